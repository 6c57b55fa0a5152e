"""The translation unit of a PTX module: no reader of C++ looks at it, and a line of it names a line of the source.

Its files are the module, or the CUDA of which nvcc made it, and those that its `.loc` name. An instruction stands on
the source line that the compiler gave it, so findings speak of the user's text; where there is none, on its own line in
the module.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kfuzz.common.text.headers import MOST_BYTES, SourceFile
from kfuzz.devices import Call, ClaimError, Entry, Job, cache, is_host, nvcc
from kfuzz.devices.cpu.line_words import LINES_A_FILE
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.entries import body_name, bytes_of_parameters, entry_name
from kfuzz.devices.cpu.ptx.functions import ALONE, write_module
from kfuzz.devices.cpu.ptx.module import PtxLimits, PtxModule, read_module
from kfuzz.devices.cpu.unit import COUNT_FROM_HERE, KERNEL_NAME, Unit
from kfuzz.devices.nvcc_ptx import Compiler, WrittenPtx, included_texts, pack_name

ARCHITECTURE = "sm_90"
"""The GPU for which nvcc compiles: that of the cpu device, or the next one for a kernel of its instructions."""

_TO_COUNT = f'{COUNT_FROM_HERE}\n#pragma GCC optimize ("O0")\n'
"""Before a module that counts. Its instructions are calls: g++ -O1 compiles 3,300 of them in 48 s, and -O0 in 7 s. What
they call is in the header, which has -O1.
"""


@dataclass(frozen=True)
class ModuleUnit(Unit):
    """The unit of a module; `limits` are those of its kernels by the entries that name them."""

    limits: Mapping[str, PtxLimits] = field(default_factory=dict)

    @property
    def is_closed(self) -> bool:
        return True

    @property
    def missing(self) -> tuple[str, ...]:
        return ()


def build_module_unit(job: Job, flavour: Flavour) -> ModuleUnit:
    """The unit of a job whose text is a PTX module, or becomes one."""
    counts = flavour == "count"
    first = SourceFile(job.path, job.source)
    if job.through == "ptx":
        symbols = {entry: entry if isinstance(entry, str) else _function_of(entry) for entry in job.entries}
        return _unit_of(job, job.source, (first,), symbols, counts)
    written = _compile(job)
    symbols = dict(zip(job.entries, written.symbols, strict=True))
    module = SourceFile(job.path.with_name(f"{job.path.name}.ptx"), written.text)
    return _unit_of(job, written.text, (first, module), symbols, counts)


def _compile(job: Job) -> WrittenPtx:
    """What nvcc makes of the job's file, from the cache if it has made it before."""
    if any(map(is_host, job.entries)):
        raise ClaimError(f"{job.path}: a host function is not PTX: leave out --through, or claim its launches")
    included = tuple(included_texts(job.path, job.source, job.flags))
    has_tensor_memory = any("tcgen05" in text for text in (job.source, *included))
    architecture = nvcc.target_of("sm_100" if has_tensor_memory else ARCHITECTURE, job.source, *included)
    parts = [nvcc.nvcc_version(nvcc.find_nvcc()), architecture, *job.flags, *map(repr, job.entries)]
    name = "ptx/" + cache.key(*parts, str(job.path), job.source, *included)
    if (kept := cache.fetch(name)) is None:
        with cache.scratch() as folder:
            made = Compiler(job.path, job.flags, job.entries, architecture, folder).write_ptx(job.source)
        kept = b"\0".join(("\n".join(made.symbols).encode(), made.text.encode()))
        cache.save(name, kept)
    symbols, _, text = kept.decode().partition("\0")
    return WrittenPtx(text, tuple(symbols.split("\n")))


def _unit_of(
    job: Job, text: str, files: tuple[SourceFile, ...], symbols: Mapping[Entry, str], counts: bool
) -> ModuleUnit:
    """The unit of a module, which is the last of these files; `symbols` are the kernels of the entries."""
    try:
        module = read_module(text)
        known = {one.name: one for one in module.entries}
        for entry, name in symbols.items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise ClaimError(f"{job.path}: no kernel is named {_function_of(entry)}; in this module: {names}")
        lines = _ModuleLines(module, files, job.path)
        packs = [pack_name(number) for number in range(len(job.entries))]
        written = write_module(module, {*symbols.values(), *packs}, lines.directive, counts=counts)
    except AsmError as error:
        raise ClaimError(f"{files[-1].path}:{error.line}: {error}, {ALONE}") from None
    exports = (_export_line(module, number, entry, symbols[entry]) for number, entry in enumerate(job.entries))
    return ModuleUnit(
        files=lines.files,
        texts=(written.text,),
        exports="".join(f"{one}\n" for one in exports),
        dynamic_shared=written.dynamic_shared,
        constants=written.constants,
        kernels=tuple(map(_function_of, symbols)),
        front=_TO_COUNT if counts else "",
        limits={str(entry): known[name].limits for entry, name in symbols.items()},
    )


class _ModuleLines:
    """The files that a module names, and the number that stands for each line of it."""

    def __init__(self, module: PtxModule, files: Sequence[SourceFile], path: Path) -> None:
        self._module, self._own = module, len(files) - 1
        every, self._numbers = list(files), dict[int, int]()
        for number, name in module.places.files.items():
            if Path(name).name == path.name and self._own:  # nvcc compiled a copy of it
                self._numbers[number] = 0
            else:
                self._numbers[number] = len(every)
                every.append(source_file(Path(name)))
        self.files = tuple(every)

    def directive(self, line: int) -> str:
        """The `#line` of a line of the module."""
        place, file = self._module.places.lines.get(line), self._own
        if place is not None and place.file in self._numbers:
            file, line = self._numbers[place.file], place.line
        return f'#line {file * LINES_A_FILE + line} "{KERNEL_NAME}"\n'


def source_file(path: Path) -> SourceFile:
    """A file that a module names, without its text if it is not here."""
    try:
        is_short = path.stat().st_size <= MOST_BYTES
        return SourceFile(path, path.read_text(encoding="utf-8", errors="replace") if is_short else "")
    except OSError:
        return SourceFile(path, "")


def _function_of(entry: Entry) -> str:
    return entry if isinstance(entry, str) else entry.function


def _export_line(module: PtxModule, number: int, entry: Entry, symbol: str) -> str:
    """The line that makes an entry known to the runtime."""
    if not isinstance(entry, Call):
        return f"CUDA_ON_CPU_ENTRY({json.dumps(str(entry))}, {entry_name(symbol)})"
    declared, function = ", ".join(entry.declared), module.function(symbol)
    made = f"::cuda_on_cpu::call_as({', '.join((f'({entry_name(symbol)})', *entry.arguments))})"
    if module.function(pack := pack_name(number)) and function:  # nvcc has compiled what makes the arguments
        names = (one.split()[-1].lstrip("*") for one in entry.declared)
        packed = f"::cuda_on_cpu::call_as({', '.join((f'({entry_name(pack)})', 'kfuzz_to', *names))})"
        called = f"[&](unsigned char *kfuzz_to) CUDA_ON_CPU_UNCHECKED {{ {packed}; }}"
        size = bytes_of_parameters(function)
        made = f"::cuda_on_cpu::ptx_launch_packed<{size}>({body_name(symbol)}, {called})"
    return f"CUDA_ON_CPU_CALL({number}, {json.dumps(str(entry))}, ({declared}), {made})"
