"""The translation unit of a kernel file: its text, its author's headers and a line for each entry, as g++ gets them.

Lines of all files go by one number, so that whatever knows a line, the debugger's tables or a barrier, tells the file
as well. Knows text; the compiler it leaves to compiler.py.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kfuzz.cpu.options import Flavour
from kfuzz.cpu.translate import Translation, translate
from kfuzz.devices import Call, ClaimError, Entry, Job, is_host
from kfuzz.sources.cuda_text import KEPT_TEXTS, includes
from kfuzz.sources.headers import SourceFile, sources

KERNEL_NAME, ENTRIES_NAME = "kernel.cu", "claimed entries"
COUNT_FROM_HERE = '#include "cuda_on_cpu/count_from_here.h"'
TORCH = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10|pybind11)/", re.MULTILINE)
LINES_A_FILE = 1_000_000
"""The lines of header number 3 begin behind 3,000,000."""
Files = Mapping[int, SourceFile]
"""By these numbers; 0 is the file that is meant where none is named."""


@dataclass(frozen=True)
class Unit:
    """What is compiled: the text, with headers of which number i is called `header_name(i)`."""

    files: tuple[SourceFile, ...]
    texts: tuple[str, ...]
    exports: str
    dynamic_shared: tuple[str, ...]
    constants: tuple[str, ...]
    kernels: tuple[str, ...]
    front: str = ""
    numbers: tuple[int, ...] = ()
    """By which the lines of each file go, where it is not its place among them."""

    @property
    def text(self) -> str:
        """The kernel file under its own lines, then one line for each entry."""
        exports = f'\n#line 1 "{ENTRIES_NAME}"\n{self.exports}' if self.exports else ""
        return f"{self.front}{self._line_directive(0)}{self.texts[0]}{exports}"

    @property
    def by_number(self) -> Files:
        """Every file by the number that its lines go by."""
        return {0: self.files[0], **dict(zip(self.numbers or range(len(self.files)), self.files, strict=True))}

    def _line_directive(self, place: int) -> str:
        number = self.numbers[place] if self.numbers else place
        return f'#line {number * LINES_A_FILE + 1} "{KERNEL_NAME}"\n'

    @property
    def is_closed(self) -> bool:
        """Whether every include in quotes is known, so that the text stands for all there is."""
        named = [include for file in self.files for include in includes(file.text) if include.is_quoted]
        return len(named) == sum(include.is_quoted for file in self.files for include, _ in file.includes)

    @property
    def uses_torch(self) -> bool:
        """Whether it includes a header of torch's."""
        return any(TORCH.search(file.text) for file in self.files)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is included in quotes and is nowhere near: the compiler may have it, or nobody needs it."""
        known = {include.name for file in self.files for include, _ in file.includes}
        named = (include.name for file in self.files for include in includes(file.text) if include.is_quoted)
        return tuple(dict.fromkeys(name for name in named if name not in known))

    def write(self, folder: Path) -> Path:
        """Write all files into a folder; the one to compile has the name by which the debugger's tables know it."""
        for number, text in enumerate(self.texts[1:], 1):
            header = folder / header_name(number)
            header.parent.mkdir(exist_ok=True)
            header.write_text(self._line_directive(number) + text, encoding="utf-8")
        unit = folder / KERNEL_NAME
        unit.write_text(self.text, encoding="utf-8")
        return unit

    def locate(self, line: int) -> tuple[Path, int]:
        """The file and the line that a number stands for."""
        return locate(self.by_number, line)


def header_name(number: int) -> str:
    return f"headers/{number}.h"


def locate(files: Files, line: int) -> tuple[Path, int]:
    """The file and the line that a number stands for; the kernel file where a #line of its author says otherwise."""
    number, rest = divmod(line, LINES_A_FILE)
    return (files[number].path, rest) if number and number in files else (files[0].path, line)


def text_at(files: Files, line: int) -> str:
    """The line that a number stands for; empty where there is none."""
    path, number = locate(files, line)
    lines = next(one.text for one in files.values() if one.path == path).split("\n")
    return lines[number - 1] if 0 < number <= len(lines) else ""


def build_unit(job: Job, flavour: Flavour) -> Unit:
    """What of a kernel file its entries reach; a ClaimError where they reach what the cpu device lacks."""
    return _build(job, tuple(map(str, job.entries)), flavour)


def build_whole_unit(job: Job, flavour: Flavour) -> Unit | None:
    """The same with all of the file in it; None where there is something that the cpu device lacks."""
    try:
        return _build(job, None, flavour)
    except ClaimError:
        return None


def _build(job: Job, entries: Iterable[str] | None, flavour: Flavour) -> Unit:
    files = sources(job.path, job.source, job.flags)
    names = [KERNEL_NAME, *map(header_name, range(1, len(files)))]
    done = _translate(files, tuple(names), None if entries is None else tuple(entries), any(map(is_host, job.entries)))
    exports = "".join(f"{_export_line(number, one)}\n" for number, one in enumerate(job.entries))
    front = f"{_toolkit_includes(done.texts)}{COUNT_FROM_HERE}\n" if flavour == "count" else ""
    return Unit(files, done.texts, exports, done.dynamic_shared, done.constants, done.kernels, front)


@lru_cache(maxsize=KEPT_TEXTS)
def _translate(
    files: tuple[SourceFile, ...], names: tuple[str, ...], entries: tuple[str, ...] | None, with_host: bool
) -> Translation:
    """`translated`, for the next flavour too: it takes ten times as long as to load what was made of it."""
    return translate(files, names, entries, with_host)


def _toolkit_includes(texts: Iterable[str]) -> str:
    """The headers of others that the files include: read first, so that float means float in them."""
    return "".join(f"{line}\n" for text in texts for line in re.findall(r"^\s*#\s*include\s*<.*", text, re.MULTILINE))


def _export_line(number: int, entry: Entry) -> str:
    """The line that hands an entry to the runtime."""
    if not isinstance(entry, Call):
        return f"CUDA_ON_CPU_ENTRY({json.dumps(entry)}, {entry})"
    declared = f"({', '.join(entry.declared)})"
    if entry.tensors:
        made = "".join(_make_tensor(name, rank) for name, rank in entry.tensors)
        return f"CUDA_ON_CPU_TORCH_CALL({number}, {json.dumps(str(entry))}, {declared}, {made}, {entry})"
    if entry.on_host:
        return f"CUDA_ON_CPU_HOST_CALL({number}, {json.dumps(str(entry))}, {declared}, {entry})"
    call = str(entry)
    if any(one.startswith("void *") for one in entry.declared):  # arrays of `args`, which fit any pointer
        call = f"::cuda_on_cpu::call_as({', '.join((f'({entry.function})', *entry.arguments))})"
    return f"CUDA_ON_CPU_CALL({number}, {json.dumps(str(entry))}, {declared}, {call})"


def _make_tensor(name: str, rank: int) -> str:
    """The statement that makes a tensor of an array and its sizes."""
    parts = ", ".join([f"{name}_data", *(f"{name}_size_{number}" for number in range(rank))])
    return f"::at::Tensor {name} = ::kfuzz_torch::tensor({parts}); "


def restore_file_names(words: str, unit: Unit) -> str:
    """A compiler's words under the names of the files that they are about."""

    def named(found: re.Match[str]) -> str:
        path, line = unit.locate(int(found[1]))
        return f"{path}:{line}"

    text = re.sub(rf"(?:(?<=\s)|^)\S*\b{re.escape(KERNEL_NAME)}:(\d+)", named, words, flags=re.MULTILINE)
    return text.replace(ENTRIES_NAME, f"{unit.files[0].path}, {ENTRIES_NAME}")
