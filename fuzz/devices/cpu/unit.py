"""The translation unit of a kernel file: its text, its author's headers and a line for each entry.

One number stands for a file and a line in it, so that everything that knows a line, such as a debug table or a barrier,
knows the file too. Knows text; compiler.py knows the compiler.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kfuzz.common.text.cuda_text import KEPT_TEXTS, includes
from kfuzz.common.text.headers import SourceFile, sources
from kfuzz.devices import Call, ClaimError, Entry, Job, is_host
from kfuzz.devices.cpu.line_words import LINES_A_FILE
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.translate import Translation, translate
from kfuzz.devices.tensors import make_tensor

KERNEL_NAME, ENTRIES_NAME = "kernel.cu", "claimed entries"
COUNT_FROM_HERE = '#include "cuda_on_cpu/count_from_here.h"'
TORCH = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10|pybind11)/", re.MULTILINE)
Files = Mapping[int, SourceFile]
"""Files by number; 0 is the kernel file, which is meant if no file is named."""


@dataclass(frozen=True)
class Unit:
    """The text to compile and its headers, of which number i is called `header_name(i)`."""

    files: tuple[SourceFile, ...]
    texts: tuple[str, ...]
    exports: str
    dynamic_shared: tuple[str, ...]
    constants: tuple[str, ...]
    kernels: tuple[str, ...]
    front: str = ""
    numbers: tuple[int, ...] = ()
    """The number of each file; empty if it is its place in `files`."""

    @property
    def text(self) -> str:
        """The kernel file with its own line numbers, then one line for each entry."""
        exports = f'\n#line 1 "{ENTRIES_NAME}"\n{self.exports}' if self.exports else ""
        return f"{self.front}{self._line_directive(0)}{self.texts[0]}{exports}"

    @property
    def by_number(self) -> Files:
        """Every file by its number."""
        return {0: self.files[0], **dict(zip(self.numbers or range(len(self.files)), self.files, strict=True))}

    def _line_directive(self, place: int) -> str:
        number = self.numbers[place] if self.numbers else place
        return f'#line {number * LINES_A_FILE + 1} "{KERNEL_NAME}"\n'

    @property
    def is_closed(self) -> bool:
        """Whether all files that it includes in quotes are known, so that the text decides the result."""
        includes_in_quotes = [include for file in self.files for include in includes(file.text) if include.is_quoted]
        return len(includes_in_quotes) == sum(include.is_quoted for file in self.files for include, _ in file.includes)

    @property
    def uses_torch(self) -> bool:
        """Whether it includes a header of torch."""
        return any(TORCH.search(file.text) for file in self.files)

    @property
    def missing(self) -> tuple[str, ...]:
        """Files that it includes in quotes and that kfuzz cannot find: the compiler may, or nothing needs them."""
        known = {include.name for file in self.files for include, _ in file.includes}
        names = (include.name for file in self.files for include in includes(file.text) if include.is_quoted)
        return tuple(dict.fromkeys(name for name in names if name not in known))

    def write(self, folder: Path) -> Path:
        """Write all files into a folder, and return the one to compile, which has its name in the debug tables."""
        for number, text in enumerate(self.texts[1:], 1):
            header = folder / header_name(number)
            header.parent.mkdir(exist_ok=True)
            header.write_text(self._line_directive(number) + text, encoding="utf-8")
        unit = folder / KERNEL_NAME
        unit.write_text(self.text, encoding="utf-8")
        return unit

    def locate(self, line: int) -> tuple[Path, int]:
        """The file and the line that a number stands for."""
        return find_line(self.by_number, line)


def header_name(number: int) -> str:
    return f"headers/{number}.h"


def find_line(files: Files, line: int) -> tuple[Path, int]:
    """The file and the line that a number stands for; the kernel file if its author has a #line of their own."""
    number, rest = divmod(line, LINES_A_FILE)
    return (files[number].path, rest) if number and number in files else (files[0].path, line)


def text_at(files: Files, line: int) -> str:
    """The text of the line that a number stands for; empty if there is none."""
    path, number = find_line(files, line)
    lines = next(one.text for one in files.values() if one.path == path).split("\n")
    return lines[number - 1] if 0 < number <= len(lines) else ""


def build_unit(job: Job, flavour: Flavour) -> Unit:
    """Build the unit of what the entries of a kernel file reach. ClaimError if that needs what the cpu device lacks."""
    return _build(job, tuple(map(str, job.entries)), flavour)


def build_whole_unit(job: Job, flavour: Flavour) -> Unit | None:
    """Build the unit of the whole file; None if it needs something that the cpu device lacks."""
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
    """Cache `translate` for the next flavour: it takes ten times as long as loading the library."""
    return translate(files, names, entries, with_host)


def _toolkit_includes(texts: Iterable[str]) -> str:
    """The includes of other people's headers, which come first, so that float means float in them."""
    return "".join(f"{line}\n" for text in texts for line in re.findall(r"^\s*#\s*include\s*<.*", text, re.MULTILINE))


def _export_line(number: int, entry: Entry) -> str:
    """The line that makes an entry known to the runtime."""
    if not isinstance(entry, Call):
        return f"CUDA_ON_CPU_ENTRY({json.dumps(entry)}, {entry})"
    declared = f"({', '.join(entry.declared)})"
    if entry.tensors:
        made = "".join(make_tensor(name, rank) for name, rank in entry.tensors)
        return f"CUDA_ON_CPU_TORCH_CALL({number}, {json.dumps(str(entry))}, {declared}, {made}, {entry})"
    if entry.on_host:
        return f"CUDA_ON_CPU_HOST_CALL({number}, {json.dumps(str(entry))}, {declared}, {entry})"
    call = str(entry)
    if any(one.startswith("void *") for one in entry.declared):  # arrays of `args`, which fit any pointer
        call = f"::cuda_on_cpu::call_as({', '.join((f'({entry.function})', *entry.arguments))})"
    return f"CUDA_ON_CPU_CALL({number}, {json.dumps(str(entry))}, {declared}, {call})"


def restore_file_names(words: str, unit: Unit) -> str:
    """A compiler's message with the names and lines of the author's files."""

    def rename(place: re.Match[str]) -> str:
        path, line = unit.locate(int(place[1]))
        return f"{path}:{line}"

    text = re.sub(rf"(?:(?<=\s)|^)\S*\b{re.escape(KERNEL_NAME)}:(\d+)", rename, words, flags=re.MULTILINE)
    return text.replace(ENTRIES_NAME, f"{unit.files[0].path}, {ENTRIES_NAME}")
