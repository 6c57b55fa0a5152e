"""The translation unit of a PTX module: no reader of C++ looks at it, and a line of it names a line of the source.

Its files are the module and those that its `.loc` name. An instruction stands on the source line that the compiler gave
it, so findings speak of the user's text; where there is none, on its own line in the module.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kfuzz.common.text.headers import MOST_BYTES, SourceFile
from kfuzz.devices import Call, ClaimError, Entry, Job
from kfuzz.devices.cpu.line_words import LINES_A_FILE
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.functions import ALONE, write_module
from kfuzz.devices.cpu.ptx.module import PtxLimits, PtxModule, read_module
from kfuzz.devices.cpu.unit import KERNEL_NAME, Unit


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
    """The unit of a job whose text is a PTX module."""
    if flavour == "count":
        raise ClaimError(f"{job.path}: roundings are counted in C++, and this is PTX: write [accuracy] yourself")
    try:
        module = read_module(job.source)
        return _unit_of(job, module, SourceFile(job.path, job.source), {})
    except AsmError as error:
        raise ClaimError(f"{job.path}:{error.line}: {error}, {ALONE}") from None


def _unit_of(job: Job, module: PtxModule, first: SourceFile, symbols: Mapping[Entry, str]) -> ModuleUnit:
    """The unit of a module; `symbols` are the kernels of the entries, where their names differ."""
    files = [first]
    numbers: dict[int, int] = {}
    for number, name in module.places.files.items():
        numbers[number] = len(files)
        files.append(_source_file(Path(name)))

    def directive(line: int) -> str:
        place = module.places.lines.get(line)
        number = numbers[place.file] * LINES_A_FILE + place.line if place and place.file in numbers else line
        return f'#line {number} "{KERNEL_NAME}"\n'

    written = write_module(module, directive)
    named = {entry: symbols.get(entry, _function_of(entry)) for entry in job.entries}
    for name in named.values():
        if name not in written.kernels:
            known = ", ".join(written.kernels) or "none"
            raise ClaimError(f"{job.path}: no .entry is named {name}; in this module: {known}")
    exports = (_export_line(number, entry, written.kernels[named[entry]]) for number, entry in enumerate(job.entries))
    limits = {one.name: one.limits for one in module.entries}
    return ModuleUnit(
        files=tuple(files),
        texts=(written.text,),
        exports="".join(f"{one}\n" for one in exports),
        dynamic_shared=written.dynamic_shared,
        constants=written.constants,
        kernels=tuple(written.kernels),
        limits={str(entry): limits[name] for entry, name in named.items()},
    )


def _source_file(path: Path) -> SourceFile:
    """A file that a module names, without its text if it is not here."""
    try:
        is_short = path.stat().st_size <= MOST_BYTES
        return SourceFile(path, path.read_text(encoding="utf-8", errors="replace") if is_short else "")
    except OSError:
        return SourceFile(path, "")


def _function_of(entry: Entry) -> str:
    return entry if isinstance(entry, str) else entry.function


def _export_line(number: int, entry: Entry, kernel: str) -> str:
    """The line that makes an entry known to the runtime."""
    if not isinstance(entry, Call):
        return f"CUDA_ON_CPU_ENTRY({json.dumps(str(entry))}, {kernel})"
    declared, given = ", ".join(entry.declared), ", ".join((f"({kernel})", *entry.arguments))
    return f"CUDA_ON_CPU_CALL({number}, {json.dumps(str(entry))}, ({declared}), ::cuda_on_cpu::call_as({given}))"
