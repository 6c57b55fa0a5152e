"""Compiles a kernel file to machine code for one NVIDIA architecture, and finds its entries in it.

Knows nvcc and the ELF file that it writes; it needs neither a GPU nor a driver nor pycuda.
"""

import os
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kfuzz.devices import Call, ClaimError, Entry, Job, cache
from kfuzz.devices.gpu import deduced, nvidia
from kfuzz.devices.host_compiler import run_compiler
from kfuzz.devices.torch_headers import suggest_header

PACK_ARGUMENTS = Path(__file__).with_name("pack_arguments.cu")

SHT_SYMTAB = 2
STO_CUDA_ENTRY = 0x10
"""The bit of a symbol's `st_other` that marks a `__global__` function."""
KPARAM_INFO = 0x17
"""The attribute of `.nv.info.<kernel>` that gives one parameter's ordinal, offset and size."""
WITH_PAYLOAD = 4

INCLUDED = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
POINTER = re.compile(r"^[^\n]*\.global [^\n]*\bkfuzz_entry_(\d+) = ([\w$.]+);\n", re.MULTILINE)
"""The number of an entry and its symbol, in PTX."""
ENTRY_LINE = re.compile(r"^launch entry\((\d+)\):\s*error: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class CodeEntry:
    """A `__global__` function of a cubin: its mangled name, and the bytes that each parameter takes.

    `packed` is how many bytes all parameters take together. `pack` is the function that makes them, if C++ does.
    """

    symbol: str
    parameters: tuple[int, ...]
    packed: int = 0
    pack: "CodeEntry | None" = None


@dataclass(frozen=True)
class MachineCode:
    """Machine code for one architecture. `entries` maps a claim's words (`block_sum<256>`) to a function.

    `has_variables`: there are `__device__` variables, which keep their values from one launch to the next.
    """

    image: bytes
    entries: dict[Entry, CodeEntry]
    has_variables: bool
    digest: str


def compile_kernel(
    path: Path,
    source: str,
    flags: tuple[str, ...],
    entries: tuple[Entry, ...],
    architecture: str,
    is_ptx: bool = False,
) -> MachineCode:
    """The machine code of a source, from the cache if this compiler has compiled the same text before."""
    nvidia.check_architecture(architecture)
    included = tuple(included_texts(path, source, flags))
    architecture = nvidia.target_of(architecture, source, *included)
    name = "cubin/" + cache.key(
        "symbols and code",  # the content of an entry; older caches hold the code alone
        nvidia.nvcc_version(nvidia.find_nvcc()),
        architecture,
        "\n".join(flags),
        *map(repr, entries),
        path.name,
        source,
        *included,
    )
    if (kept := cache.fetch(name)) is None:
        kept = _build(path, source, flags, entries, architecture, is_ptx)
        cache.save(name, kept)
    symbols, _, image = kept.partition(b"\0")
    return _read_cubin(image, symbols.decode().split("\n"), path, entries, name)


def code_of(job: Job, architecture: str) -> MachineCode:
    """The machine code of a job's text, which is CUDA or a PTX module."""
    return compile_kernel(job.path, job.source, job.flags, job.entries, architecture, is_ptx=job.through == "ptx")


def included_texts(path: Path, source: str, flags: tuple[str, ...]) -> Iterator[str]:
    """Names and texts of the files that a kernel includes, directly or not, from beside them or a folder of the flags.

    A file that lies in none of these places belongs to the compiler or the system.
    """
    folders = (path.parent, *(Path(flag.removeprefix("-I")) for flag in flags if flag.startswith("-I")))
    seen: set[Path] = set()
    waiting = [(path, source)]
    while waiting:
        including, text = waiting.pop()
        for name in INCLUDED.findall(text):
            places = (folder / name for folder in (including.parent, *folders))
            file = next((place for place in places if place.is_file()), None)
            if file is not None and file not in seen:
                seen.add(file)
                text_of_file = file.read_text(encoding="utf-8", errors="replace")
                yield str(file)
                yield text_of_file
                waiting.append((file, text_of_file))


def _build(
    path: Path, source: str, flags: tuple[str, ...], entries: tuple[Entry, ...], architecture: str, is_ptx: bool
) -> bytes:
    """The symbols of the entries, a 0, and the cubin.

    A pointer to `block_sum<256>` after the source makes the compiler instantiate it, and PTX gives its symbol, so kfuzz
    need not mangle names. The cubin is made without the pointers: if a kernel's address is taken, the assembler makes
    different code for it, a tenth longer than in the user's own build. `#line` keeps messages and line tables to the
    lines of the kernel file.
    """
    has_calls = any(isinstance(entry, Call) for entry in entries)
    packing = PACK_ARGUMENTS.read_text(encoding="utf-8") + deduced.HELPERS if has_calls else ""
    pointers = packing + "".join(
        f'#line {number + 1} "launch entry"\n{_declare_pointer(source, number, entry)}\n'
        for number, entry in enumerate(entries)
    )
    with cache.scratch() as folder:
        text, ptx, cubin = folder / "kernel.cu", folder / "kernel.ptx", folder / "kernel.cubin"
        text.write_text(f'#line 1 "{path.name}"\n{source}\n{pointers}', encoding="utf-8")
        command = [nvidia.find_nvcc(), f"-arch={architecture}", "-lineinfo", "-w", f"-I{path.parent}", *flags]
        command += ["--expt-relaxed-constexpr"] if has_calls else []  # a host function may make an argument
        environment = {**os.environ, "TMPDIR": str(folder)}  # files of a killed nvcc go with the folder

        def make(made: Path, out_of: Path) -> None:
            words = [*command, f"-{made.suffix[1:]}", "-o", str(made), str(out_of)]
            done = run_compiler(words, environment, path)
            if done.returncode or not made.exists():
                raise ClaimError(compiler_words(path, entries, done.stdout + done.stderr))

        if is_ptx:
            ptx.write_text(source, encoding="utf-8")
            make(cubin, ptx)
            return "\n".join(map(_kernel_of_ptx, entries)).encode() + b"\0" + cubin.read_bytes()
        make(ptx, text)
        written = ptx.read_text(encoding="utf-8")
        symbols = {int(number): symbol for number, symbol in POINTER.findall(written)}
        ptx.write_text(POINTER.sub("", written), encoding="utf-8")
        make(cubin, ptx)
        found = "\n".join(symbols.get(number, "") for number in range(len(entries)))
        return found.encode() + b"\0" + cubin.read_bytes()


def compiler_words(path: Path, entries: tuple[Entry, ...], words: str) -> str:
    """The compiler's first error with its line in the kernel file, or the launch that does not name a kernel."""
    named = re.escape(path.name)
    shown = re.search(rf"^{named}(?:\((\d+)\)|:(\d+):\d+):.*?error[^:]*: (.*)$", words, re.MULTILINE)
    if shown:
        return f"{path}:{shown[1] or shown[2]}: nvcc: {shown[3]}{suggest_header(shown[3])}"
    if missing := ENTRY_LINE.search(words):
        return f"{path}: entry = {str(entries[int(missing[1]) - 1])!r}: nvcc: {missing[2]}"
    lines = [line for line in words.splitlines() if "error" in line or "fatal" in line] or words.splitlines()
    return f"{path}: nvcc: {lines[0].strip() if lines else 'failed and said nothing'}"


def _declare_pointer(source: str, number: int, entry: Entry) -> str:
    """A pointer that gives the entry's symbol and, if C++ makes its arguments, a function that makes them."""
    if isinstance(entry, str):
        return f"__device__ void *{_pointer_name(number)} = (void *)({entry});"
    before, kernel = "", entry.function
    if isinstance(entry, Call) and deduced.is_deduced(source, entry):
        text, kind = deduced.declare_kernel(source, number, entry)
        found = f"KfuzzResult<decltype(kfuzz_kind_{number})>::type"
        before = f"{text} __device__ auto kfuzz_kind_{number}({', '.join(entry.declared)}) -> {kind}; "
        kernel = f"{found}::value"
    parameters = ", ".join(("char *kfuzz_to", *entry.declared))
    arguments = ", ".join((kernel, "kfuzz_to", *entry.arguments))
    return (
        f"{before}__device__ void *{_pointer_name(number)} = (void *)({kernel}); "
        f'extern "C" __global__ void {_pack_name(number)}({parameters}) {{ kfuzz_pack({arguments}); }}'
    )


def _kernel_of_ptx(entry: Entry) -> str:
    """The symbol of a kernel of a PTX module."""
    if not isinstance(entry, str):
        raise ClaimError(f"{entry}: a GPU gets arrays and integers as arguments of PTX; leave numbers to --device cpu")
    return entry


def _pointer_name(number: int) -> str:
    return f"kfuzz_entry_{number}"


def _pack_name(number: int) -> str:
    return f"kfuzz_pack_{number}"


@dataclass(frozen=True)
class ElfSection:
    """A section of a cubin."""

    name: str
    kind: int
    link: int
    size: int
    data: bytes


def _read_cubin(
    image: bytes, symbols: Sequence[str], path: Path, entries: tuple[Entry, ...], digest: str
) -> MachineCode:
    """A cubin's kernels by their symbols, with the parameters of each."""
    sections = list(read_sections(image))
    table = next(section for section in sections if section.kind == SHT_SYMTAB)
    kernels = set(_kernel_symbols(table, sections))
    found = {}
    for number, entry in enumerate(entries):
        if symbols[number] not in kernels:
            raise ClaimError(f"{path}: entry = {str(entry)!r} is no kernel: it is not declared __global__")
        there = _read_entry(symbols[number], sections)
        found[entry] = (
            there if isinstance(entry, str) else replace(there, pack=_read_entry(_pack_name(number), sections))
        )
    has_variables = any(section.size for section in sections if section.name.startswith(".nv.global"))
    return MachineCode(image, found, has_variables, digest)


def read_sections(image: bytes) -> Iterator[ElfSection]:
    """All sections of a cubin."""
    (table,) = struct.unpack_from("<Q", image, 0x28)
    count, names = struct.unpack_from("<HH", image, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, table + 64 * number) for number in range(count)]
    start = headers[names][4]
    for name, kind, _, _, offset, size, link, _, _, _ in headers:
        yield ElfSection(_text_at(image, start + name), kind, link, size, image[offset : offset + size])


def _kernel_symbols(table: ElfSection, sections: list[ElfSection]) -> Iterator[str]:
    """The symbols of `__global__` functions."""
    names = sections[table.link].data
    for name, _, other, _, _, _ in struct.iter_unpack("<IBBHQQ", table.data):
        if other & STO_CUDA_ENTRY:
            yield _text_at(names, name)


def _read_entry(symbol: str, sections: list[ElfSection]) -> CodeEntry:
    """A kernel of a cubin, with the size in bytes of each parameter, in order."""
    data = next((section.data for section in sections if section.name == f".nv.info.{symbol}"), b"")
    sizes, packed, position = {}, 0, 0
    while position < len(data):
        layout, attribute, value = struct.unpack_from("<BBH", data, position)
        position += 4
        if layout == WITH_PAYLOAD:
            if attribute == KPARAM_INFO:
                _, ordinal, offset, word = struct.unpack_from("<IHHI", data, position)
                sizes[ordinal] = word >> 18
                packed = max(packed, offset + sizes[ordinal])
            position += value
    return CodeEntry(symbol, tuple(sizes[ordinal] for ordinal in sorted(sizes)), packed)


def _text_at(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
