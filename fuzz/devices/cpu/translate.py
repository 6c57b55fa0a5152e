"""Edits the few words of CUDA C++ that headers cannot define, and refuses what the cpu device cannot run.

Knows only source text. Every edit keeps the lines where they are, so that messages name lines of the `.cu` file.
Long, since it has an edit for each word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from kfuzz.common.text.cuda_text import blank_non_code, closing_bracket, kernels
from kfuzz.common.text.headers import SourceFile, rename_includes
from kfuzz.devices import UnsupportedError
from kfuzz.devices.cpu import refused_by_nvcc
from kfuzz.devices.cpu.dynamic_shared import DYNAMIC_SHARED, declare_dynamic_arrays
from kfuzz.devices.cpu.host_functions import ASM, NO_TYPE, disable_checks, find_device_words, find_host_assembly
from kfuzz.devices.cpu.host_variables import OTHER_THREADS, leave_out_known_names, write_as_static
from kfuzz.devices.cpu.launches import TextEdit, translate_launches
from kfuzz.devices.cpu.libraries import LIBRARY_CALL, is_declared_by_us, name_with_library
from kfuzz.devices.cpu.library_headers import is_of_library, refuse_when_run, translate_header
from kfuzz.devices.cpu.line_words import find_makers, replace_line_words
from kfuzz.devices.cpu.ptx.asm_text import find_text_macros
from kfuzz.devices.cpu.ptx.statements import Refused, Translated, translate_statements
from kfuzz.devices.cpu.reach import blank_out, find_functions, find_macros, find_unreached
from kfuzz.devices.cpu.toolchain import HEADERS

_STATIC_SHARED = re.compile(
    r"\b(?:static|extern)(?=(?:\s+\w+)*?\s+__shared__\b)|(?<=\b__shared__)\s+(?:static|extern)\b"
)
"""Of an array that has a size, nvcc takes `extern` for `static`, too."""
_SHARED_ALIGNAS = re.compile(
    r"(?P<shared>(?:\bvolatile\s+)?\b__shared__\s+(?:volatile\s+)?)(?P<alignas>alignas\s*\((?:[^()]|\([^()]*\))*\))"
)
"""nvcc accepts alignas after __shared__; standard C++ wants it before."""
_VOID = r"(?:const\s+)?void\s*(?:const\s*)?\*\s*"
_AS_ADDRESS = (
    rf"(?:(?:\bcudaLaunch(?:Cooperative)?Kernel\s*\(|\bcudaLaunchKernelExC\s*\([^;,]*,|\bfunc\s*=)\s*(?P<cast>\(\s*{_VOID}\))|"
    rf"(?P<named>\(\s*{_VOID}\)|\breinterpret_cast\s*<\s*{_VOID}>)(?=[\s(&]*(?:::\s*)?(?:\w+\s*::\s*)*(?:%s)\b))"
)
"""A cast of a kernel's address that loses its type."""
_POINTER = r"\bauto\s*\*?\s*(?:const\s+)?(\w+)\s*=\s*&?\s*(?:\w+\s*::\s*)*(?:%s)\s*(?:<|;)"
"""A variable that is a kernel's address, and has its type."""
LIBCUXX = "this part of libcu++ (cuda::)"
_OWN_CUDA = re.compile(r"\bnamespace\s+(?:\w+\s*::\s*)*cuda\s*\{")
"""A namespace of that name of the author's own, whose members are no part of libcu++."""
_OWN_MAP = re.compile(r"\s*(?:const\s+)?CUtensorMap\s+(?:const\s+)?(\w+)\s*")
_CLUSTER = re.compile(r"\b__cluster_dims__\s*\(")
_NO_INLINE = re.compile(r"\b__noinline__\b(?!\s*\))")
_COPY = re.compile(r"\b__builtin_(?P<name>memcpy|memmove|memset)\b")
"""g++ turns these into plain moves without access hooks, whatever its options (options.py)."""
_SHARES_WITH_HOST = re.compile(r"\bcuda(?:MallocManaged|MallocHost|HostAlloc)\s*\(|\buniversal_vector\b")
"""Memory that host and kernels share: then the host's own accesses are checked, since they may come too early."""
_CONSTANT = re.compile(r"\b__constant__\b[^;={}()]*?\b(?P<name>\w+)\s*[\[;={]")

_CUB = (
    r"(?:Block|Warp)(?:Reduce|Scan)|Block(?:Load|Store|RadixSort|Exchange|Histogram)|BLOCK_(?:REDUCE|SCAN|LOAD|STORE|HISTO)_\w+|"
    r"Device(?:Reduce|Scan|RadixSort|MergeSort|Select|Partition|Histogram|RunLengthEncode|SegmentedReduce)|DoubleBuffer|"
    r"KeyValuePair|(?:Counting|Constant|Transform|ArgIndex)InputIterator|NullType|Sum|Max|Min|ArgMax|ArgMin"
)
"""The parts of cub that the cpu device has: include/cub and host/include/cub."""
_OF_HOST = (
    (r"<<<", "launches in the source (<<<...>>>): the claim's [[launch]] says how kernels are launched"),
    (r"\bthrust\s*::", "thrust"),
)
"""Features of host code."""
_UNSUPPORTED = (
    (r"\basm\b|\b__asm__\b|\b__asm\b", "this form of inline PTX (asm)"),
    (r"\bthread_local\b|\b__thread\b", "thread_local variables of several threads: __shared__ arrays have their place"),
    (r"\btexture\s*<", "texture references, which CUDA 12 removed: use texture objects"),
    (r"\bsurface\s*<", "surface references, which CUDA 12 removed: use surface objects"),
    (
        r"\bcuda(?:Malloc|Free|Get)Mipmapped\w*|\btex(?:[123]D|Cubemap)\w*(?:Grad|gather)\b|\bcuda(?:Bind|Unbind)Texture\w*",
        "this part of textures and surfaces",
    ),
    (r"\bcudaLaunch(?!HostFunc|Kernel\b|KernelExC?\b|CooperativeKernel\b)\w*\s*\(", "launches through the runtime API"),
    (r"\bcudaGraph(?:Exec)?(?:Add)?(?:ExternalSemaphores|BatchMemOp)\w*\s*\(", "this part of CUDA graphs"),
    (rf"\bcub\s*::\s*(?!(?:{_CUB})\b)\w+", "this part of cub"),
    (
        r"(?<!\bat::)(?<!\bc10::)(?<!\btorch::)(?<!\bthrust::)\bcuda\s*::\s*(?!(?:std|atomic|atomic_ref|atomic_flag|atomic_thread_fence|thread_scope\w*|memory_order\w*|move|barrier|latch|(?:counting|binary)_semaphore|(?:make_)?pipeline\w*|memcpy_async|aligned_size_t|annotated_ptr|device|access_property|(?:associate|apply)_access_property|ptx|ceil_div|round_up|round_down|fast_mod_div|div)\b)",
        LIBCUXX,
    ),
    (r"\b(?:cutlass|cute)\s*::", "CUTLASS"),
    (
        r"\bcurandState(?:MRG32k3a|Mtgp32|MtGp32|ScrambledSobol(?:32|64))(?:_t)?\b|"
        r"\bcurand_(?!(?:init|uniform[24]?|uniform2?_double|normal[24]?|normal2?_double|log_normal2?|log_normal_double)\b)\w+\s*\(",
        "this part of cuRAND",
    ),
)
_DECLARED = rf"\b{NO_TYPE}\w[\w:<>]*[\s*&]+(?:\w+\s*::\s*)*%s\s*[=;,)({{\[]"
"""A declaration of a function, a variable or a parameter of this name."""
_TOOLKIT = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<((?:cub|thrust|cuda|cutlass|cute|nv)/[^>\n]*|cuda_(?:pipeline|awbarrier)\w*\.h|"
    r"cu(?:blas|rand|fft|solver|sparse|dnn)\w*\.h|nccl\.h|cuda_profiler_api\.h|nvtx3?/[^>\n]*|nvToolsExt\.h)>",
    re.MULTILINE,
)
"""Headers of the CUDA toolkit that a host compiler cannot find: a file may include them without using them."""
ON_A_GPU = "; run this kernel with --device gpu"
"""The advice for a kernel. Whole programs run only on the cpu device."""


@dataclass(frozen=True)
class Translation:
    """Sources for a host compiler, and the names of their `extern __shared__` arrays, constants and kernels."""

    texts: tuple[str, ...]
    dynamic_shared: tuple[str, ...]
    constants: tuple[str, ...]
    kernels: tuple[str, ...]


def translate(
    files: Sequence[SourceFile],
    names: Sequence[str] = (),
    entries: Iterable[str] | None = None,
    with_host: bool = False,
    refuses_libraries: bool = True,
) -> Translation:
    """Replace CUDA's own words in a kernel file and its headers; `names` are the new names of the headers.

    With `entries`, leave out definitions that none of them reaches. With host functions, translate launches too. A call
    of a library that is not there is refused unless the caller lets the compiler say whether it counts.
    UnsupportedError names a feature that the cpu device lacks, ClaimError one that nvcc refuses.
    """
    if any(is_of_library(one.path) for one in files[1:]):
        return _translate_beside_libraries(files, names, entries, with_host, refuses_libraries)
    return _translate_own(files, [rename_includes(one, names) for one in files], entries, with_host, refuses_libraries)


def _translate_beside_libraries(
    files: Sequence[SourceFile],
    names: Sequence[str],
    entries: Iterable[str] | None,
    with_host: bool,
    refuses_libraries: bool,
) -> Translation:
    """The author's own files as always; those of CuTe and CUTLASS almost as they are."""
    whole = [rename_includes(one, names) for one in files]
    own = [place for place, one in enumerate(files) if not place or not is_of_library(one.path)]
    done = _translate_own(
        [files[one] for one in own], [whole[one] for one in own], entries, with_host, refuses_libraries, ("CUTLASS",)
    )
    texts = dict(zip(own, done.texts, strict=True))
    launched = _kernels(blank_non_code("\n".join(whole))) if with_host else ()
    for at, text in enumerate(whole):
        if at not in texts:
            made = translate_header(text, files[at].path, with_host)
            edits = [*_edit_addresses(blank_non_code(made), launched)] if "void" in made and launched else []
            texts[at] = _apply_edits(made, edits) if edits else made
    return replace(done, texts=tuple(texts[at] for at in range(len(whole))))


def _translate_own(
    files: Sequence[SourceFile],
    whole: list[str],
    entries: Iterable[str] | None,
    with_host: bool,
    refuses_libraries: bool,
    there: Sequence[str] = (),
) -> Translation:
    texts, codes = whole, list(map(blank_non_code, whole))
    if entries is not None:
        idle = find_unreached("\n".join(codes), entries)
        texts = _split_again(
            blank_out("\n".join(whole), ((one.start, one.end) for one in idle if not one.is_macro)), whole
        )
        codes = _split_again(blank_out("\n".join(codes), ((one.start, one.end) for one in idle)), whole)
    there = (*there, *((LIBCUXX,) if any(map(_OWN_CUDA.search, codes)) else ()))
    device_words = find_device_words(codes)
    hosts = [[*find_host_assembly(code, device_words)] if with_host else [] for code in codes]
    macros = find_text_macros("\n".join(texts))
    asm = [
        [one for one in translate_statements(text, code, macros) if not _is_of_host(one, some)]
        for text, code, some in zip(texts, codes, hosts, strict=True)
    ]
    codes = [_without_assembly(code, some) for code, some in zip(codes, hosts, strict=True)]
    ptx = [[(one.start, one.end, one.text) for one in parts if isinstance(one, Translated)] for parts in asm]
    codes = [blank_out(code, ((one.start, one.end) for one in parts)) for code, parts in zip(codes, asm, strict=True)]
    defined = _find_defined(codes) if refuses_libraries else None
    has_threads = not with_host or any(map(OTHER_THREADS.search, codes))
    static = [[] if has_threads else [*write_as_static(code)] for code in codes]
    codes = [blank_out(code, (edit[:2] for edit in edits)) for code, edits in zip(codes, static, strict=True)]
    for place, (one, code, parts) in enumerate(zip(files, codes, asm, strict=True)):
        refused = [part for part in parts if isinstance(part, Refused)]
        if entries is None:  # nothing says which functions of a header a program reaches, or which macros it uses
            late = [part for part in refused if place or _is_in_macro(texts[place], part.start)]
            ptx[place] += [(part.start, part.end, refuse_when_run(part, texts[place], one.path)) for part in late]
            refused = [part for part in refused if part not in late]
        check_supported(code, one.path, with_host, defined, refused, there)
    every = "\n".join(codes)
    constants = _names(_CONSTANT, every)
    refused_by_nvcc.check_texts(codes, [one.path for one in files], constants)
    edits = [[*parts, *more, *_find_edits(code)] for code, parts, more in zip(codes, ptx, static, strict=True)]
    makers = find_makers(codes)
    for file, code, some in zip(files, codes, edits, strict=True):
        some.extend(replace_line_words(code, file.path, makers))
    if with_host:
        shares = bool(_SHARES_WITH_HOST.search(every)) and not has_threads
        for file, code, text, some in zip(files, codes, texts, edits, strict=True):
            some.extend(translate_launches(code, text, file.path, every))
            some.extend(_edit_addresses(code, _kernels(every)))
            some.extend(_begin_bodies(code))
            some.extend(disable_checks(code, device_words, shares))
    done = tuple(map(_apply_edits, texts, edits))
    return Translation(done, _names(DYNAMIC_SHARED, every), constants, _kernels(blank_non_code("\n".join(whole))))


def _is_of_host(one: Translated | Refused, spans: Iterable[tuple[int, int, bool]]) -> bool:
    return any(start <= one.start < end and (known or isinstance(one, Refused)) for start, end, known in spans)


def _without_assembly(code: str, spans: Iterable[tuple[int, int, bool]]) -> str:
    """The code without the words for assembly in these parts, whose text stays as it is."""
    return blank_out(code, (one.span() for start, end, _ in spans for one in ASM.finditer(code, start, end)))


def _is_in_macro(text: str, at: int) -> bool:
    """Whether a place belongs to a macro's definition, which may go on after lines that end in a backslash."""
    first = text.rfind("\n", 0, at) + 1
    while text.endswith("\\\n", 0, first):
        first = text.rfind("\n", 0, first - 1) + 1
    return re.match(r"[ \t]*#[ \t]*define\b", text[first:at]) is not None


def _split_again(joined: str, lengths_of: Sequence[str]) -> list[str]:
    """Split a text again that was joined with a single letter between its parts."""
    ends = list(accumulate(len(one) + 1 for one in lengths_of))
    return [joined[end - len(one) - 1 : end - 1] for one, end in zip(lengths_of, ends, strict=True)]


def _names(pattern: re.Pattern[str], code: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one["name"] for one in pattern.finditer(code)))


def _kernels(code: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _ in kernels(code)))


def _find_edits(code: str) -> list[TextEdit]:
    """The edits for CUDA's own words: start, end and new text of each."""
    edits = [(*one.span(), " " * len(one[0])) for one in _TOOLKIT.finditer(code) if not _is_there(one[1])]
    edits += declare_dynamic_arrays(code)
    taken = [(start, end) for start, end, _ in edits]
    static = [(*match.span(), " " * len(match[0])) for match in _STATIC_SHARED.finditer(code)]
    static += [(*one.span(), f"{one['alignas']} {one['shared']}") for one in _SHARED_ALIGNAS.finditer(code)]
    edits += [one for one in static if not any(start <= one[0] < end for start, end in taken)]
    edits += [(*match.span(), match["name"]) for match in _COPY.finditer(code)]
    edits += leave_out_known_names(code)
    return edits + [(*match.span(), "__attribute__((noinline))") for match in _NO_INLINE.finditer(code)]


def _edit_addresses(code: str, kernels: Iterable[str]) -> Iterator[TextEdit]:
    """Edits that keep the type of a kernel in place of the cast that loses it."""
    names = [*kernels]
    if names:
        names += sorted({one[1] for one in re.finditer(_POINTER % "|".join(names), code)})
    for match in re.finditer(_AS_ADDRESS % ("|".join(names) or r"(?!)"), code):
        yield *match.span("cast" if match["cast"] else "named"), "::cuda_on_cpu::as_address->*"


def _begin_bodies(code: str) -> Iterator[TextEdit]:
    """Edits after which a kernel that the host calls as a function does nothing, and one knows its own cluster.

    A tensor map that is a plain parameter is marked, since its address is that of the thread's own copy.
    nvcc makes a function of that name, which launches what <<<...>>> has noted: here there is nothing, an error. A
    launch by the kernel's name asks it for its `__cluster_dims__`; one through a pointer has none and is refused.
    """
    for _, opened in kernels(code):
        body = closing_bracket(code, opened) + 1
        if code[body:].lstrip().startswith("{"):
            at = code.index("{", body) + 1
            head = max(code.rfind(end, 0, opened) for end in ";{}")
            sides = _CLUSTER.search(code, head + 1, opened)
            said = " ".join(code[sides.end() : closing_bracket(code, sides.end() - 1)].split()) if sides else ""
            first = f" if (!::cuda_on_cpu::is_launched()) return ::cuda_on_cpu::not_launched({said});"
            own_maps = (_OWN_MAP.fullmatch(one) for one in code[opened + 1 : body - 1].split(","))
            first += "".join(f" ::cuda_on_cpu::own_map({one[1]});" for one in own_maps if one)
            yield at, at, f"{first} ::cuda_on_cpu::has_cluster({said});" if sides else first


def _is_there(header: str) -> bool:
    return any((room / header).exists() for room in HEADERS)


def check_supported(
    code: str,
    path: Path,
    with_host: bool = False,
    defined: frozenset[str] | None = None,
    refused: Sequence[Refused] = (),
    there: Sequence[str] = (),
) -> None:
    """Raise an UnsupportedError that names the first feature of blanked code that the cpu device lacks.

    `defined` are the functions and macros of all files; with it, other functions of CUDA's libraries count. `refused`
    are the asm statements that have no translation, and `there` features that the user brings.
    """
    features = (one for one in (_UNSUPPORTED if with_host else (*_UNSUPPORTED, *_OF_HOST)) if one[1] not in there)
    unsupported = [*_find_unsupported(code, features)]
    calls = [] if defined is None else _find_library_calls(code, defined)
    instructions = [(one.start, f"{one.why}, which runs on the GPU alone", one.line) for one in refused]
    for at, feature, more in sorted([*((at, what, 0) for at, what in (*unsupported, *calls)), *instructions]):
        line = code.count("\n", 0, at) + 1 + more
        raise UnsupportedError(f"{path}:{line}: the cpu device does not have {feature}{ON_A_GPU}")


def _find_unsupported(code: str, unsupported: Iterable[tuple[str, str]]) -> Iterator[tuple[int, str]]:
    for pattern, feature in unsupported:
        if match := re.search(pattern, code):
            yield match.start(), feature


def _find_library_calls(code: str, defined: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Calls of functions of CUDA's libraries that neither the files nor the headers of the cpu device declare."""
    for call in LIBRARY_CALL.finditer(code):
        name = call["name"]
        if name not in defined and not is_declared_by_us(name) and not re.search(_DECLARED % name, code):
            yield call.start(), name_with_library(name)


def _find_defined(codes: Sequence[str]) -> frozenset[str]:
    return frozenset(one.name for code in codes for one in (*find_macros(code), *find_functions(code)))


def _apply_edits(source: str, edits: list[TextEdit]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, text in sorted(edits):
        pieces += source[at:start], text
        at = end
    return "".join((*pieces, source[at:]))
