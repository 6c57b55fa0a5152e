"""Compiles a kernel file to machine code for one NVIDIA architecture, and finds its entries in it.

Knows the ELF file that nvcc writes; it needs neither a GPU nor a driver nor pycuda.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kfuzz.devices import ClaimError, Entry, Job, cache, nvcc
from kfuzz.devices.gpu import nvidia
from kfuzz.devices.nvcc_ptx import Compiler, included_texts, pack_name

SHT_SYMTAB = 2
STO_CUDA_ENTRY = 0x10
"""The bit of a symbol's `st_other` that marks a `__global__` function."""
KPARAM_INFO = 0x17
"""The attribute of `.nv.info.<kernel>` that gives one parameter's ordinal, offset and size."""
WITH_PAYLOAD = 4


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
    architecture = nvcc.target_of(architecture, source, *included)
    name = "cubin/" + cache.key(
        "symbols and code",  # the content of an entry; older caches hold the code alone
        nvcc.nvcc_version(nvcc.find_nvcc()),
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


def _build(
    path: Path, source: str, flags: tuple[str, ...], entries: tuple[Entry, ...], architecture: str, is_ptx: bool
) -> bytes:
    """The symbols of the entries, a 0, and the cubin."""
    with cache.scratch() as folder:
        ptx, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
        compiler = Compiler(path, flags, entries, architecture, folder)
        if is_ptx:
            ptx.write_text(source, encoding="utf-8")
            symbols = [_kernel_of_ptx(entry) for entry in entries]
        else:
            written = compiler.write_ptx(source)
            ptx.write_text(written.text, encoding="utf-8")
            symbols = list(written.symbols)
        compiler.make(cubin, ptx)
        return "\n".join(symbols).encode() + b"\0" + cubin.read_bytes()


def _kernel_of_ptx(entry: Entry) -> str:
    """The symbol of a kernel of a PTX module."""
    if not isinstance(entry, str):
        raise ClaimError(f"{entry}: a GPU gets arrays and integers as arguments of PTX; leave numbers to --device cpu")
    return entry


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
            there if isinstance(entry, str) else replace(there, pack=_read_entry(pack_name(number), sections))
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
