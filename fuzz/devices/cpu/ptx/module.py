"""Reads the text of a PTX module: its variables, its functions with their parameters, limits and bodies.

Knows no instruction. Comments and debug sections become blanks, so that every line stays where it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kfuzz.common.text.cuda_text import KEPT_TEXTS
from kfuzz.devices.cpu.ptx.asm_text import AsmError, closing
from kfuzz.devices.cpu.ptx.places import SourcePlaces, blank_places, read_places
from kfuzz.devices.cpu.ptx.variables import DECLARED, PtxVariable, read_variables

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_SKIPPED = re.compile(r"\.(?:version|target|address_size|pragma)\b[^\n;]*;?|\.alias\b[^;]*;")
_SECTION = re.compile(r"\.section\b[^\n{]*\s*\{[^}]*\}")
_FUNCTION = re.compile(r"(?:\.(?:visible|extern|weak|noreturn)\s+)*\.(?P<kind>entry|func)\b(?:\s+\.noreturn\b)?")
_NAME = re.compile(r"\s*([\w$%]+)\s*")
_LIMIT = re.compile(r"\.(reqntid|maxntid|reqnctapercluster|maxclusterrank)\s+(\d+(?:\s*,\s*\d+)*)")
_VERSION = re.compile(r"^\s*\.version\s+\d", re.MULTILINE)


@dataclass(frozen=True)
class PtxLimits:
    """What a launch must have: exactly this block or cluster, at most this many threads; () without a limit."""

    exact_block: tuple[int, ...] = ()
    most_threads: int = 0
    cluster: tuple[int, ...] = ()


@dataclass(frozen=True)
class PtxFunction:
    """A function; `body` is what lies between its braces, None for a declaration."""

    name: str
    is_entry: bool
    parameters: tuple[PtxVariable, ...]
    results: tuple[PtxVariable, ...]
    body: slice | None
    limits: PtxLimits
    line: int


@dataclass(frozen=True)
class PtxModule:
    """A module; `text` is its text with blanks in place of what is no code."""

    text: str
    places: SourcePlaces
    variables: tuple[PtxVariable, ...]
    functions: tuple[PtxFunction, ...]

    def function(self, name: str) -> PtxFunction | None:
        """The definition of a function, or its declaration if it has none here."""
        named = [one for one in self.functions if one.name == name]
        return next((one for one in named if one.body), named[0] if named else None)

    @property
    def entries(self) -> tuple[PtxFunction, ...]:
        """The kernels that it defines."""
        return tuple(one for one in self.functions if one.is_entry and one.body)


def is_module(text: str) -> bool:
    """Whether a text is a PTX module: each begins with the version of PTX."""
    return bool(_VERSION.search(_blank_comments(text)))


@lru_cache(maxsize=KEPT_TEXTS)
def read_module(text: str) -> PtxModule:
    """The module of a text; AsmError says what is not understood."""
    places = read_places(text)
    text = _blank_comments(text)
    text = _SECTION.sub(_blanked, blank_places(text))
    variables: list[PtxVariable] = []
    functions: list[PtxFunction] = []
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] == ";":
            at += 1
            continue
        line = text.count("\n", 0, at) + 1
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
        elif head := _FUNCTION.match(text, at):
            function, at = _read_function(text, head, line)
            functions.append(function)
        elif DECLARED.match(text, at):
            end = text.find(";", at)
            variables += read_variables(text[at : end if end >= 0 else len(text)], line)
            at = end + 1 if end >= 0 else len(text)
        else:
            raise AsmError(f"the PTX text {' '.join(text[at : at + 60].split())}", line)
    return PtxModule(text, places, tuple(variables), tuple(functions))


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _blank_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else _blanked(found), text)


def _read_function(text: str, head: re.Match[str], line: int) -> tuple[PtxFunction, int]:
    """The function whose head begins here, and the place after it."""
    at, is_entry = head.end(), head["kind"] == "entry"
    results, at = _read_parameters(text, at, line)
    name = _NAME.match(text, at)
    if not name:
        raise AsmError(f"the PTX text {' '.join(text[head.start() : at + 40].split())}", line)
    parameters, at = _read_parameters(text, name.end(), line)
    stop = re.compile(r"[{;]").search(text, at)
    if not stop:
        raise AsmError(f"{name[1]}, which has no end", line)
    end = closing(text, stop.start(), "{}") if stop[0] == "{" else stop.end()
    if not end:
        raise AsmError(f"{name[1]}, whose brace stays open", line)
    body = slice(stop.end(), end - 1) if stop[0] == "{" else None
    limits = _read_limits(text[at : stop.start()])
    return PtxFunction(name[1], is_entry, parameters, results, body, limits, line), end


def _read_parameters(text: str, at: int, line: int) -> tuple[tuple[PtxVariable, ...], int]:
    """The parameters in the brackets that open here, and the place after them; none without brackets."""
    opened = re.compile(r"\s*\(").match(text, at)
    if not opened:
        return (), at
    end = closing(text, opened.end() - 1)
    return tuple(_each_parameter(text[opened.end() : end - 1], line)), end


def _each_parameter(text: str, line: int) -> Iterator[PtxVariable]:
    for one in text.split(","):
        if one.strip():
            yield from read_variables(one, line)


def _read_limits(text: str) -> PtxLimits:
    found = {one[1]: tuple(int(size) for size in one[2].split(",")) for one in _LIMIT.finditer(text)}
    most = 1
    for size in found.get("maxntid", ()):
        most *= size
    cluster = found.get("reqnctapercluster", ())
    return PtxLimits(_three(found.get("reqntid", ())), most if "maxntid" in found else 0, _three(cluster))


def _three(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (*sizes, 1, 1)[:3] if sizes else ()
