"""Compiles the runtime, and the objects of which every library has a copy, with the host's C++ compiler.

Knows compilers, flags and files, which the cache keeps by content; it does not know kernel files.
"""

import functools
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.devices import DeviceError, cache
from kfuzz.devices.cpu.options import COMMON, LANGUAGE, RUNTIME, Flags, Flavour, options
from kfuzz.devices.cpu.ptx.storage import shown_name
from kfuzz.devices.host_compiler import build_once, environment, find_compiler, identity, run_compiler

HOME = Path(__file__).parents[2] / "cuda_on_cpu"
OF_LIBRARIES = (HOME / "runtime" / "module.cpp", HOME / "host" / "library.cpp")
OF_PROGRAMS = HOME / "host" / "program.cpp"
THROUGH_NVCC = (HOME / "host" / "nvcc" / "modules.cpp", HOME / "host" / "nvcc" / "api.cpp")
FRONTS = ("cuda_on_cpu.h", "cuda_on_cpu_host.h", "cuda_on_cpu_torch.h")
"""The header before each kernel file: the second if it has host functions, the third if these use torch."""
HEADERS = (HOME / "include", HOME / "host" / "include", HOME / "host" / "torch" / "include")
INCLUDES = tuple(word for folder in HEADERS for word in ("-I", str(folder)))
MACRO = re.compile(r"-([DU])(?!CUDA_|NDEBUG|_)([^=]+)(=?)(.*)", re.DOTALL)
"""An author's own macro. Our headers must not see it, since they use names like B themselves (-DB=16)."""
GUARD = "guard variable"
"""The prefix of the symbol that says whether the constructors of a __shared__ array have run."""


@functools.cache
def own_digest() -> str:
    """A digest of all headers and files of the runtime."""
    files = sorted(one for one in HOME.rglob("*") if one.suffix in (".h", ".cpp", ".def") or "include" in one.parts)
    return cache.key(
        *(part for one in files if one.is_file() for part in (str(one.relative_to(HOME)), one.read_bytes()))
    )


def build_runtime(is_over: Callable[[], bool] = lambda: False) -> Path:
    """Build the runtime, a shared library against which kernel libraries resolve.

    Once `is_over`, it compiles no further file and raises a DeviceError.
    """
    compiler = find_compiler()
    name = f"cpu/runtime-{cache.key(identity(compiler), own_digest())[:32]}.so"
    return build_once(name, lambda made: _compile_runtime(compiler, made, is_over))


def _compile_runtime(compiler: str, made: Path, is_over: Callable[[], bool]) -> None:
    """Compile the runtime's files on all processors, and link them."""
    announce(Phase(Stage.COMPILING, "kfuzz's own runtime, once"))
    files = sorted(one for room in ("runtime", "host") for one in (HOME / room).glob("*.cpp"))
    objects = {
        one: made.parent / f"{one.parent.name}-{one.stem}.o" for one in files if one not in (*OF_LIBRARIES, OF_PROGRAMS)
    }

    def compile_one(source: Path) -> None:
        if is_over():
            raise DeviceError("nothing needs the runtime of the cpu device any more")
        speed = ("-O2",) if source.parent.name == "host" else ()  # only the other room runs at each access
        _compile_own(compiler, objects[source], *_red_zone(compiler), *speed, "-c", str(source))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for _ in pool.map(compile_one, objects):  # raises what a thread has raised
            pass
    _compile_own(compiler, made, "-shared", *map(str, objects.values()))


def build_objects(compiler: str, flavour: Flavour, front: int) -> list[str]:
    """Build the objects of which every kernel library has a copy."""
    made = [_object(compiler, flavour, one) for one in OF_LIBRARIES[: 2 if front else 1]]
    if front == len(FRONTS) - 1:
        made.append(_torch_object(compiler))
    return list(map(str, made))


def build_program_objects(compiler: str, flavour: Flavour) -> list[str]:
    """Build the objects of which every program has a copy."""
    return [str(_object(compiler, flavour, one)) for one in (*OF_LIBRARIES, OF_PROGRAMS)]


def build_nvcc_objects(compiler: str, flavour: Flavour) -> list[str]:
    """Build the objects of which a program has a copy whose host code nvcc has compiled."""
    return [str(_object(compiler, flavour, one, _WITH_FRAMES)) for one in THROUGH_NVCC]


_WITH_FRAMES = ("-fno-omit-frame-pointer",)
"""Between the author's functions and the runtime, which follows the frames of their calls (host/launches.cpp)."""


def _torch_object(compiler: str) -> Path:
    """Build the shim for torch, without checks of its accesses: all files as one, since each includes every header."""
    words = ("-O2", "-fexceptions", "-frtti", "-fno-omit-frame-pointer", "-c")

    def build(made: Path) -> None:
        every = made.with_name("torch.cpp")
        files = sorted((HOME / "host" / "torch").glob("*.cpp"))
        every.write_text("".join(f'#include "{one}"\n' for one in files), encoding="utf-8")
        _compile_own(compiler, made, *words, str(every))

    return build_once(f"cpu/torch-{cache.key(identity(compiler), own_digest())[:32]}.o", build)


def _object(compiler: str, flavour: Flavour, source: Path, more: tuple[str, ...] = ()) -> Path:
    name = f"cpu/{source.stem}-{flavour}-{cache.key(identity(compiler), own_digest())[:32]}.o"
    checks = ["-DCUDA_ON_CPU_CHECK"] if flavour == "check" else []
    return build_once(name, lambda made: _compile_own(compiler, made, *checks, *more, "-c", str(source)))


def _red_zone(compiler: str) -> list[str]:
    return ["-mno-red-zone"] if "x86_64" in identity(compiler) else []


def option_words(compiler: str, flavour: Flavour, chosen: Flags, with_host: bool) -> list[str]:
    """The flags with which this compiler compiles a file."""
    words = [*options("clang" in identity(compiler), flavour, chosen, with_host), *_thread_local(compiler)]
    is_gcc_on_x86 = "x86_64" in identity(compiler) and "clang" not in identity(compiler)
    keeps_vectors = flavour == "check" and is_gcc_on_x86 and not with_host
    return [*words, *_KEPT_VECTORS] if keeps_vectors else words


_KEPT_VECTORS = ("-fipa-ra", "-DCUDA_ON_CPU_HOOKS_KEEP_VECTORS")
"""Tell the compiler that access hooks change no vector register (include/cuda_on_cpu/settled_reads.h)."""


def _thread_local(compiler: str) -> list[str]:
    """Flags for a call of __tls_get_addr wherever a __shared__ array is used (runtime/module.cpp)."""
    if "clang" in identity(compiler):  # which has no such flag, but does it anyway on x86-64
        return []
    return [f"-mtls-dialect={'gnu' if 'x86_64' in identity(compiler) else 'trad'}"]


def _compile_own(compiler: str, made: Path, *arguments: str) -> None:
    own = [compiler, *LANGUAGE, *COMMON, *RUNTIME, *_thread_local(compiler), *arguments, "-o", str(made)]
    done = run_compiler(own, environment(made.parent), "the runtime of the cpu device")
    if done.returncode:
        raise DeviceError(f"{identity(compiler)} cannot compile the runtime of the cpu device: {done.stderr.strip()}")


def precompile_front(compiler: str, flavour: Flavour, chosen: Flags, front: int) -> Path:
    """Build the precompiled form of the header before each kernel file; the compiler ignores it if it does not fit.

    The author's folders and macros do not matter to it: one form serves them all.
    """
    passed = tuple(one for one in flags_before_front(chosen).passed if not one.startswith("-I"))
    chosen = replace(chosen, passed=passed)
    chosen_options = option_words(compiler, flavour, chosen, bool(front))
    folder = f"cpu/front-{cache.key(identity(compiler), own_digest(), FRONTS[front], *chosen_options)[:32]}"
    header = cache.folder() / folder / "front.h"
    if not _is_as_made(header):
        with cache.hold(folder):
            if not _is_as_made(header):
                _precompile([compiler, *chosen_options], FRONTS[front], header)
    for one in (header, header.parent / "front.h.gch"):
        cache.note_use(one)
    return header


def _precompile(command: list[str], front: str, header: Path) -> None:
    """Write the header and its precompiled form, which is missing if a flag of the claim is wrong."""
    with cache.scratch() as scratch:
        header.parent.mkdir(parents=True, exist_ok=True)
        text, made = scratch / "front.h", scratch / "front.h.gch"
        text.write_text(f'#include "{front}"\n', encoding="utf-8")
        text.replace(header)
        command = [*command, *INCLUDES, "-x", "c++-header", str(header), "-o", str(made)]
        done = run_compiler(command, environment(scratch), front)
        if done.returncode == 0:  # else compiling the kernel reports it
            cache.save(_name_of_digest(header), cache.file_digest(made).encode())
            made.replace(header.parent / "front.h.gch")


def _name_of_digest(header: Path) -> str:
    """The entry of the cache with the digest of a precompiled header, which cannot hold it itself."""
    return f"cpu/{header.parent.name}/front.digest"


def _is_as_made(header: Path) -> bool:
    """Whether a header is precompiled, and that file is still what the compiler has written."""
    made, digest = header.parent / "front.h.gch", cache.fetch(_name_of_digest(header))
    return digest is not None and made.exists() and cache.file_digest(made).encode() == digest


def flags_before_front(chosen: Flags) -> Flags:
    """The flags without those that belong after our header: the author's macros and -include files."""
    words = zip((None, *chosen.passed), chosen.passed, strict=False)
    kept = (one for last, one in words if "-include" not in (last, one) and not MACRO.fullmatch(one))
    return replace(chosen, passed=tuple(kept))


def words_after_front(chosen: Flags, folder: Path) -> list[str]:
    """The words for the flags that `flags_before_front` leaves out: first macros, then files."""
    macros = [macro.groups() for one in chosen.passed if (macro := MACRO.fullmatch(one))]
    lines = [
        f"#define {n} {v if has_value else '1'}" if word == "D" else f"#undef {n}" for word, n, has_value, v in macros
    ]
    files = [word for last, one in pairwise(chosen.passed) if last == "-include" for word in (last, one)]
    if not lines:
        return files
    (folder / "macros.h").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["-include", str(folder / "macros.h"), *files]


def read_places(path: Path) -> dict[str, Any]:
    """Read the places of static __shared__ arrays, which are thread-local symbols, and of all other variables."""
    places: dict[tuple[int, int], str] = {}  # two arrays of one kernel may have one name
    variables = []
    for words in _symbols(path, "--demangle"):
        if words[3] == "TLS":
            places[int(words[1], 16), int(words[2], 0)] = words[7]
        elif words[3] == "OBJECT" and words[2] != "0":
            variables.append((_plain_name(words[7]), int(words[1], 16), int(words[2], 0)))
    (anchor,) = (offset for (offset, _), name in places.items() if name == "cuda_on_cpu_anchor")
    shared = [
        (GUARD if name.startswith(GUARD) else _plain_name(name), offset, size)
        for (offset, size), name in places.items()
        if name != "cuda_on_cpu_anchor"
    ]
    of_kernels = _add_up_shared(path) if shared else []
    return {"anchor": anchor, "shared": shared, "of_kernels": of_kernels, "variables": sorted(set(variables))}


def shared_arrays(path: Path) -> dict[str, int]:
    """The names of the static __shared__ arrays in an object or a library, and their bytes."""
    of_none = (GUARD, "cuda_on_cpu_anchor")
    arrays = (words for words in _symbols(path, "--demangle") if words[3] == "TLS" and not words[7].startswith(of_none))
    return {_plain_name(words[7]): int(words[2], 0) for words in arrays}


def _plain_name(name: str) -> str:
    """A variable's name without its function or namespace, and as PTX has it."""
    return shown_name(name.rpartition("::")[2])


def global_variables(path: Path) -> set[str]:
    """The variables that an object defines for all objects."""
    return {words[7] for words in _symbols(path) if words[4] == "GLOBAL" and words[3] in ("TLS", "OBJECT")}


def _symbols(path: Path, *options: str) -> Iterator[list[str]]:
    """The symbols that a library defines, as readelf's columns."""
    command = ["readelf", "--symbols", "--wide", *options, str(path)]
    listing = run_compiler(command, environment(path.parent), path.name)
    if listing.returncode:
        raise DeviceError(f"readelf failed: {listing.stderr.strip()}; install binutils")
    rows = (line.split(maxsplit=7) for line in listing.stdout.splitlines())
    return (words for words in rows if len(words) == 8 and words[6] != "UND")


def _add_up_shared(path: Path) -> list[tuple[int, int]]:
    """The place of each function that declares static __shared__ arrays itself, and their bytes."""
    rows = list(_symbols(path))
    arrays = {words[7]: int(words[2], 0) for words in rows if words[3] == "TLS"}
    bytes_at: dict[int, int] = {}
    for words in rows:
        name = words[7]
        if words[3] == "FUNC":
            encoded = name[2:] if name.startswith("_Z") else f"{len(name)}{name}"
            inside = f"_ZZ{encoded}E"
            if total := sum(size for array, size in arrays.items() if array.startswith(inside)):
                bytes_at[int(words[1], 16)] = total
    return sorted(bytes_at.items())
