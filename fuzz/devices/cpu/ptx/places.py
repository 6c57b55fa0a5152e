"""The source lines that a PTX module names: `.file`, `.loc`, and the calls through which a line was inlined."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"((?:\\.|[^"\\\n])*)"[^\n]*', re.MULTILINE)
_LOC = re.compile(
    r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)"
    r"(?:[^\n/]*?\binlined_at[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+))?[^\n]*",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^[ \t]*(?:\.(?:visible|extern|weak)[ \t]+)*\.(?:entry|func)\b")
_CALLED = re.compile(r"@\[ ([^:\n]*):(\d+):(\d+)")
"""The calls that LLVM names in a comment, from the innermost outwards: `// f.py:1:2 @[ g.py:3:4 ]`."""
_OF_A_COMPILER = re.compile(r"/(?:site|dist)-packages/|/triton/language/|/cuda[^/]*/(?:.*/)?include/")
"""Files of a compiler or an installed library, whose lines say less than the line that calls into them."""

SourcePlace = tuple[int, int, int]
"""File, line and column."""


@dataclass(frozen=True)
class SourceLine:
    """A line of a file by the file's number in the module."""

    file: int
    line: int


@dataclass(frozen=True)
class SourcePlaces:
    """The files of a module by their numbers, and the source line of each PTX line that has one."""

    files: Mapping[int, str]
    lines: Mapping[int, SourceLine]


def read_places(text: str) -> SourcePlaces:
    """The places of a module's text, with its comments."""
    files = {int(number): path for number, path in _FILE.findall(text)}
    called: dict[SourcePlace, SourcePlace] = {}
    at: dict[int, SourceLine] = {}
    current: SourceLine | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if found := _LOC.match(line):
            file, row, column, *call = (int(one) for one in found.groups(default=0))
            if call[1]:  # a function is inlined at many calls, each of which comes before its lines
                called[file, row, column] = (call[0], call[1], call[2])
            else:
                called.pop((file, row, column), None)
            place = (file, row, column)
            chain = [place, *_named_calls(line, files)] if not call[1] else []
            chain = chain if len(chain) > 1 else _chain(place, called)
            current = _shown(chain, files) if row else None  # line 0 is the compiler's own code
        elif _FUNCTION.match(line):
            current = None
        elif current is not None and line.strip():
            at[number] = current
    return SourcePlaces(files, at)


def _named_calls(line: str, files: Mapping[int, str]) -> Iterator[SourcePlace]:
    """The calls in the comment of a line, of which it has the last part of each file's path."""
    for name, row, column in _CALLED.findall(line):
        numbers = [number for number, path in files.items() if Path(path).name == name]
        if numbers:
            yield numbers[0], int(row), int(column)


def _chain(place: SourcePlace, called: Mapping[SourcePlace, SourcePlace]) -> list[SourcePlace]:
    """A line and the calls through which it was inlined."""
    chain = [place]
    while (outer := called.get(chain[-1])) is not None and outer not in chain:
        chain.append(outer)
    return chain


def _shown(chain: Sequence[SourcePlace], files: Mapping[int, str]) -> SourceLine:
    """The innermost line that is not of a compiler or a library."""
    own = (one for one in chain if not _OF_A_COMPILER.search(files.get(one[0], "")))
    shown = next(own, chain[-1])
    return SourceLine(shown[0], shown[1])


def blank_places(text: str) -> str:
    """The text without these directives; every line stays where it is."""
    return _LOC.sub("", _FILE.sub("", text))
