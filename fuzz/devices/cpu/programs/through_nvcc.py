"""Builds objects of programs through nvcc: its PTX of the kernels, and its host code beside a CUDA runtime of ours.

nvcc splits a file into PTX and C++ with the host's functions. The PTX becomes C++ as everywhere on the cpu device; the
host's compiler makes objects of both, with line numbers as programs/build.py has them. The host's object calls CUDA's
runtime under names of ours (cuda_on_cpu/host/nvcc), since NVIDIA's functions have other parameters.
Long, since it follows one file from its text to its object.
"""

import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.common.printable import printable, shown_path
from kfuzz.common.text.headers import SourceFile, sources
from kfuzz.devices import ClaimError, cache, nvcc
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.compiler import UNINITIALISED
from kfuzz.devices.cpu.line_words import LINES_A_FILE
from kfuzz.devices.cpu.module_unit import ARCHITECTURE, source_file
from kfuzz.devices.cpu.options import Flags, Flavour
from kfuzz.devices.cpu.programs.command_line import NvccSource
from kfuzz.devices.cpu.programs.notes import add_notes
from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.entries import body_name, bytes_of_parameters, places_of_parameters
from kfuzz.devices.cpu.ptx.functions import ALONE, WrittenModule, write_module
from kfuzz.devices.cpu.ptx.module import PtxFunction, PtxModule, read_module
from kfuzz.devices.cpu.ptx.storage import cpp_name
from kfuzz.devices.cpu.unit import KERNEL_NAME
from kfuzz.devices.host_compiler import compiling_for, environment, find_compiler, identity, run_compiler
from kfuzz.devices.nvcc_ptx import compiler_words, included_texts
from kfuzz.devices.torch_headers import suggest_header

OWN = "kfuzz_nvcc_"
"""Begins the names of our functions in the place of NVIDIA's."""
FRONT = toolchain.HOME / "host" / "nvcc" / "include" / "kfuzz_through_nvcc.h"
REGISTER = "__cudaRegisterFatBinary"
OF_CUDA = re.compile(
    r"_{0,2}cuda[A-Z]\w*|cu[A-Z]\w*|cu(?:blas|rand|fft|sparse|solver|dnn)[A-Z]\w*|nccl[A-Z]\w*|nvtx\w*"
)
UNCHANGED = frozenset(
    """cudaGetLastError cudaPeekAtLastError cudaGetErrorString cudaGetErrorName cudaMemGetInfo cudaPointerGetAttributes
    cudaHostRegister cudaHostUnregister cudaStreamAttachMemAsync cudaHostGetFlags cudaDeviceGetDefaultMemPool
    cudaDeviceGetMemPool cudaDeviceSetMemPool cudaMemPoolCreate cudaMemPoolDestroy cudaMemPoolSetAttribute
    cudaMemPoolGetAttribute cudaMemPoolSetAccess cudaMemPoolTrimTo cudaDeviceSynchronize cudaThreadSynchronize
    cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority cudaStreamDestroy cudaStreamGetFlags
    cudaStreamGetPriority cudaStreamSynchronize cudaStreamQuery cudaStreamWaitEvent cudaStreamAddCallback
    cudaLaunchHostFunc cudaDeviceGetStreamPriorityRange cudaEventCreate cudaEventCreateWithFlags cudaEventDestroy
    cudaEventRecord cudaEventRecordWithFlags cudaEventQuery cudaEventSynchronize cudaEventElapsedTime cudaGetDeviceCount
    cudaGetDevice cudaSetDevice cudaSetDeviceFlags cudaDeviceGetAttribute cudaDeviceReset cudaThreadExit
    cudaDeviceSetCacheConfig cudaDeviceSetSharedMemConfig cudaDeviceGetSharedMemConfig cudaDeviceGetCacheConfig
    cudaGetDeviceFlags cudaDeviceGetPCIBusId cudaDeviceSetLimit cudaDeviceGetLimit cudaDeviceCanAccessPeer
    cudaDeviceEnablePeerAccess cudaDeviceDisablePeerAccess cudaDeviceGetP2PAttribute cudaDriverGetVersion
    cudaRuntimeGetVersion cudaProfilerStart cudaProfilerStop cudaStreamBeginCapture cudaStreamEndCapture
    cudaStreamIsCapturing cudaGraphCreate cudaGraphDestroy cudaGraphExecDestroy cudaGraphUpload cudaGraphExecUpdate
    cudaGraphClone cudaGraphDestroyNode cudaGraphNodeFindInClone cudaGraphNodeGetType cudaGraphGetNodes
    cudaGraphGetRootNodes cudaGraphAddChildGraphNode cudaGraphAddEmptyNode cudaGraphAddEventRecordNode
    cudaGraphAddEventWaitNode cudaGraphAddHostNode""".split()  # noqa: SIM905  as a person reads it
)
"""Functions with the same parameters in the runtime of the cpu device (host/include/cuda_on_cpu_host/api.h)."""
VERSIONS = re.compile(r"(?:_v[23])?(?:_pt(?:sz|ds))?$")
"""Ends the names of functions that a later toolkit has changed in ways that do not matter here, and of those that take
stream 0 for the thread's own, which the whole program does or does not."""
PER_THREAD = "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"
LINKS_DEVICE_CODE = re.compile(r"--?(?:rdc|relocatable-device-code)[= ]true|-dc|--device-c")
STREAM_0 = '\n# 1 "stream 0"\nextern "C" {{ __attribute__((weak)) void cuda_on_cpu_stream_0_is_{}() {{}} }}\n'
"""What tells the program (host/program.cpp) the meaning of stream 0 in a file."""
TAKEN = re.compile(
    r"--?(?:expt-)?(?:extended-lambda|relaxed-constexpr)|--?use_fast_math|-?-(?:ftz|prec-div|prec-sqrt|fmad)\b.*"
)
"""Options of nvcc's own that change what it makes of a file."""
MARKER = re.compile(r'^(?:#|#line) (\d+) "((?:\\.|[^"\\\n])*)"[^\n]*$', re.MULTILINE)
ERROR = re.compile(
    r"^(?:([^\s:(][^:(\n]*)\((\d+)\)|([^\s:][^:\n]*):(\d+):\d+): (?:\w+ )?error(?: #[\w-]+)?: (.*)$", re.MULTILINE
)
SHARES_WITH_HOST = re.compile(
    r"\bcuda(?:MallocManaged|MallocHost|HostAlloc|HostRegister)\b|__managed__|universal_vector"
)
INLINE = re.compile(r"\bstatic (?:__inline__|inline)\b(?! __attribute__\(\(always_inline)")
WRAPPERS = ("cuda_runtime.h", "device_launch_parameters.h", "cuda_runtime_api.h", FRONT.name)
"""Headers whose functions stand on the line of their caller."""


def compile_through_nvcc(
    source: NvccSource,
    flags: Sequence[str],
    words: Sequence[str],
    flavour: Flavour,
    number_files: Callable[[list[str]], list[int]],
) -> Path:
    """Compile a source to an object. ClaimError with the first error of nvcc or of the host's compiler."""
    if asked := next(filter(LINKS_DEVICE_CODE.fullmatch, words), None):
        raise ClaimError(f"{asked}: kfuzz links no device code of several files: leave it out, or --through")
    text = source.path.read_text(encoding="utf-8-sig", errors="replace")
    host, ptx = _split(source, text, flags, words)
    module = _read(source.path, ptx)
    named = [source_file(Path(one)) for one in module.places.files.values()] if module else []
    every = {one.path.resolve(): one for one in (*sources(source.path, text, flags), *named)}
    own = {path: one for path, one in every.items() if one.text and not _is_of_toolkit(path)}
    whole_module = source.path.resolve().with_name(f"{source.path.name}.ptx")
    if module:  # the line of an instruction that stands on no line of the author's
        own[whole_module] = SourceFile(source.path.with_name(whole_module.name), ptx)
    numbers = dict(zip(own, number_files([str(one) for one in own]), strict=True))
    stream_0 = "per_thread" if PER_THREAD in flags else "legacy"
    host = "".join((*number_lines(host, numbers), STREAM_0.format(stream_0)))
    written = _write(source.path, module, numbers, numbers[whole_module]) if module else None
    table = _describe(module, _register_name(source.path)) if module else ""
    words_of_host = _host_words(flavour, [one.text for one in own.values()])
    parts = (host, *words_of_host, written.text if written else "", table, str(source.path), *_compilers(flavour))
    name = f"cpu/object-{cache.key(*parts)[:32]}.o"
    if cache.fetch(name) is None:
        announce(Phase(Stage.COMPILING, source.path.name))
        with cache.scratch() as folder:
            made, said = _compile_host(source, host, words_of_host, folder)
            objects = [made]
            if written:
                objects.append(_compile_module(source, f'{written.text}\n#line 1 "ptx"\n{table}', flavour, folder))
            whole = folder / "whole.o"
            _run([find_compiler(), "-r", "-nostdlib", *map(str, objects), "-o", str(whole)], folder, source.path)
            notes = {
                "files": [(numbers[path], str(one.path), one.text) for path, one in own.items()],
                "dynamic": written.dynamic_shared if written else (),
                "constants": written.constants if written else (),
                "uninitialised": sorted({(int(line), one) for line, one in UNINITIALISED.findall(said)}),
            }
            add_notes(whole, notes, folder)
            cache.keep(name, whole.read_bytes())
    return cache.folder() / name


def _compilers(flavour: Flavour) -> Iterator[str]:
    """What decides, beside texts, what the host's compiler makes of them."""
    compiler, chosen = find_compiler(), Flags((), flush_denormals=False)
    yield from (identity(compiler), toolchain.own_digest())
    yield from toolchain.option_words(compiler, flavour, chosen, with_host=False)


def _host_words(flavour: Flavour, texts: Sequence[str]) -> list[str]:
    """The options for the host's code: it needs calls before its accesses only if it shares memory with kernels."""
    words = toolchain.option_words(find_compiler(), flavour, Flags((), flush_denormals=False), with_host=True)
    shares = any(map(SHARES_WITH_HOST.search, texts))
    return [one for one in words if not one.startswith("-fsanitize=") or (shares and one == "-fsanitize=thread")]


def _is_of_toolkit(path: Path) -> bool:
    home = Path(nvcc.find_nvcc()).resolve().parents[1]
    return path.is_relative_to(home) or path.is_relative_to(FRONT.parent.resolve())


def _flags_of(flags: Sequence[str], words: Sequence[str]) -> list[str]:
    """The flags for nvcc: those of the host's compiler without what stands for nvcc's own, and its own."""
    return [*(one for one in flags if not one.startswith("-D__CUDA_ARCH")), *filter(TAKEN.fullmatch, words)]


def _split(source: NvccSource, text: str, flags: Sequence[str], words: Sequence[str]) -> tuple[str, str]:
    """The C++ of the host's functions and the PTX of the kernels, as nvcc makes them of a file; a file of C++ has none.

    The cache has it if nvcc has made it before.
    """
    included = tuple(included_texts(source.path, text, tuple(flags)))
    architecture = nvcc.target_of(ARCHITECTURE, text, *included).replace("sm_", "compute_")
    front = FRONT.read_text(encoding="utf-8")
    asked = [architecture, *_flags_of(flags, words), source.language, identity(find_compiler())]
    parts = [nvcc.nvcc_version(nvcc.find_nvcc()), *asked, front, str(source.path), str(source.path.resolve())]
    name = "split/" + cache.key(*parts, text, *included)
    if (kept := cache.fetch(name)) is None:
        announce(Phase(Stage.COMPILING, source.path.name))
        with cache.scratch() as folder:
            made = _run_nvcc(source, architecture, _flags_of(flags, words), folder)
        kept = zlib.compress("\0".join(made).encode(), 1)
        cache.save(name, kept)
    host, _, ptx = zlib.decompress(kept).decode().partition("\0")
    return host, ptx


def _run_nvcc(source: NvccSource, architecture: str, words: Sequence[str], folder: Path) -> tuple[str, str]:
    host = folder / "host.ii"
    command = [
        *(nvcc.find_nvcc(), "-gencode", f"arch={architecture},code={architecture}", "-lineinfo", "-w"),
        *("-ccbin", find_compiler(), "-include", str(FRONT), *words, "-o", str(host)),
    ]
    keeping = ("-cuda", "-x", "cu", "--keep", "--keep-dir", str(folder)) if source.language == "cu" else ("-E",)
    done = run_compiler([*command, *keeping, str(source.path)], environment(folder), source.path)
    if done.returncode or not host.exists():
        raise ClaimError(printable(_words_of(source.path, done.stdout + done.stderr)))
    made = sorted(folder.glob("*.ptx"))
    ptx = made[0].read_text(encoding="utf-8", errors="replace") if made else ""
    return host.read_text(encoding="utf-8", errors="replace"), ptx


def _words_of(path: Path, words: str) -> str:
    """The first error of nvcc or of the compiler that it calls, with its file and line."""
    found = ERROR.search(words)
    if not found:
        return compiler_words(path, (), words)
    return (
        f"{shown_path(Path(found[1] or found[3]))}:{found[2] or found[4]}: nvcc: {found[5]}{suggest_header(found[5])}"
    )


def _read(path: Path, ptx: str) -> PtxModule | None:
    if not ptx:
        return None
    try:
        return read_module(ptx)
    except AsmError as error:
        raise ClaimError(f"{path}: {error}, {ALONE}") from None


def _write(path: Path, module: PtxModule, numbers: dict[Path, int], of_module: int) -> WrittenModule:
    def directive(line: int) -> str:
        place = module.places.lines.get(line)
        number = numbers.get(Path(module.places.files[place.file]).resolve()) if place else None
        number, line = (number, place.line) if place and number else (of_module, line)
        return f'#line {number * LINES_A_FILE + line} "{KERNEL_NAME}"\n'

    try:
        return write_module(module, {one.name for one in module.entries}, directive, with_launches=False)
    except AsmError as error:
        raise ClaimError(f"{path}: {error}, {ALONE}") from None


def _compile_module(source: NvccSource, text: str, flavour: Flavour, folder: Path) -> Path:
    """The object of a module, with a function that gives the host what the module has."""
    compiler, chosen = find_compiler(), Flags((), flush_denormals=False)
    file, made = folder / "module.cpp", folder / "module.o"
    file.write_text(text, encoding="utf-8")
    with compiling_for(source.path):
        header = toolchain.precompile_front(compiler, flavour, chosen, 0)
    command = [
        *(compiler, *toolchain.option_words(compiler, flavour, chosen, with_host=False), "-pipe"),
        *("-include", str(header), *toolchain.INCLUDES, "-c", "-x", "c++", str(file), "-o", str(made)),
    ]
    _run(command, folder, source.path)
    return made


def _describe(module: PtxModule, own: str) -> str:
    """The kernels and the variables of a module as tables (include/cuda_on_cpu/ptx/program.h)."""
    lines = ['#include "cuda_on_cpu/ptx/program.h"', "namespace {", "using namespace cuda_on_cpu;"]
    kernels = []
    for number, one in enumerate(module.entries):
        places = ", ".join(f"{{{at}, {parameter.bytes}}}" for parameter, at in places_of_parameters(one))
        lines.append(f"const PtxParameterPlace kfuzz_places_{number}[] = {{{places or '{}'}}};")
        kernels.append(_describe_kernel(number, one))
    symbols = [
        f"{{{json.dumps(one.name)}, {cpp_name(one)}}}" for one in module.variables if _is_of_host(one.space, one.bytes)
    ]
    lines += [
        f"const PtxKernel kfuzz_kernels[] = {{{', '.join(kernels) or '{}'}}};",
        f"const PtxSymbol kfuzz_symbols[] = {{{', '.join(symbols) or '{}'}}};",
        f"const PtxProgram kfuzz_program = {{kfuzz_kernels, kfuzz_symbols, {len(kernels)}, {len(symbols)}}};",
        "}",
        f'extern "C" CUDA_ON_CPU_HIDDEN void **{own}(const void *) {{',
        "  return reinterpret_cast<void **>(const_cast<PtxProgram *>(&kfuzz_program));",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _is_of_host(space: str, size: int) -> bool:
    return space in ("global", "const") and size > 0


def _describe_kernel(number: int, one: PtxFunction) -> str:
    cluster, block = one.limits.cluster or (0, 0, 0), one.limits.exact_block or (0, 0, 0)
    return (
        f"{{{json.dumps(one.name)}, {body_name(one.name)}, kfuzz_places_{number}, {len(one.parameters)}, "
        f"{bytes_of_parameters(one)}, {{{', '.join(map(str, cluster))}}}, {{{', '.join(map(str, block))}}}, "
        f"{one.limits.most_threads}}}"
    )


def _compile_host(source: NvccSource, host: str, words: Sequence[str], folder: Path) -> tuple[Path, str]:
    """The object of the host's functions, which calls our runtime by our names."""
    compiler = find_compiler()
    text, made = folder / "host.cpp", folder / "host.o"
    text.write_text(host, encoding="utf-8")
    command = [compiler, *words, "-std=gnu++17", "-pipe", "-c", "-x", "c++-cpp-output", str(text), "-o", str(made)]
    said = _run(command, folder, source.path)
    if own := next(iter(toolchain.shared_arrays(made)), ""):
        raise ClaimError(f"{source.path}: {own} is thread_local, and thread-local memory holds __shared__ arrays here")
    listed = _run(["nm", "--undefined-only", "--just-symbols", str(made)], folder, source.path, with_output=True)
    renamed = {one: own_name(one, source.path) for one in listed.split() if OF_CUDA.fullmatch(one)}
    pairs = [f"--redefine-sym={one}={name}" for one, name in renamed.items() if one != name]
    if pairs:
        _run(["objcopy", *pairs, str(made)], folder, source.path)
    return made, said


def own_name(name: str, path: Path) -> str:
    """The name of our function in the place of one of NVIDIA's."""
    if name == REGISTER:
        return _register_name(path)
    plain = VERSIONS.sub("", name).replace("InstantiateWithFlags", "Instantiate")
    return plain if plain in UNCHANGED else f"{OWN}{plain}"


def _register_name(path: Path) -> str:
    """The function by which the host's code of a file finds the module of the same file."""
    return f"{REGISTER}_{cache.key(str(path.resolve()))[:16]}"


def number_lines(host: str, numbers: dict[Path, int]) -> Iterator[str]:
    """The text with the numbers of lines that programs have, and wrappers of the API without places of their own."""
    known: dict[str, int | None] = {}
    at, is_wrapper = 0, False
    for marker in MARKER.finditer(host):
        yield _as_wrapper(host[at : marker.start()]) if is_wrapper else host[at : marker.start()]
        name = marker[2]
        if name not in known:
            known[name] = None if name.startswith("<") else numbers.get(Path(name).resolve())
        number, is_wrapper, at = known[name], os.path.basename(name) in WRAPPERS, marker.end()
        yield f'# {number * LINES_A_FILE + int(marker[1])} "{KERNEL_NAME}"' if number else marker[0]
    yield host[at:]


def _as_wrapper(text: str) -> str:
    return INLINE.sub("static inline __attribute__((always_inline))", text)


def _run(command: list[str], folder: Path, path: Path, with_output: bool = False) -> str:
    done = run_compiler(command, environment(folder), path)
    if done.returncode:
        lines = [one for one in done.stderr.splitlines() if "error" in one] or done.stderr.splitlines()
        raise ClaimError(printable(f"{path}: {lines[0].replace(f'{folder}/', '') if lines else 'not compiled'}"))
    return done.stdout if with_output else done.stderr
