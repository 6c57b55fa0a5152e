"""CUDA C++ as text: comments and literals, which contain no code, and `#include` lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

OPAQUE = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"|"""
    r""""(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
"""Comments, string and character literals."""
KEPT_TEXTS = 256
ATTRIBUTES = (
    "__launch_bounds__", "__cluster_dims__", "__block_size__", "__attribute__", "__align__", "alignas", "decltype",
    "noexcept",
)  # fmt: skip
"""Words of a declaration, with brackets of their own."""
_NO_NAMES = frozenset({*ATTRIBUTES, "requires", "asm", "__asm__"})
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_WORD_FOR_GLOBAL = re.compile(r"\s*#\s*define\s+(\w+)(?![\w(])(?=(?:.|\n)*\b__global__\b)")
_MARK = re.compile(r"[(\[{;]")
_WORD_BEFORE = re.compile(r"(\w+)\s*$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Include:
    """One `#include`: the place of its directive in the text, the name, and whether it is in quotes."""

    start: int
    end: int
    name: str
    is_quoted: bool


@lru_cache(maxsize=KEPT_TEXTS)
def blank_non_code(source: str) -> str:
    """The source with comments and literals replaced by spaces, of the same length and with the same lines."""
    return OPAQUE.sub(spaces, source)


def spaces(found: re.Match[str]) -> str:
    """Spaces in place of a removed stretch of text: as long, with the same lines."""
    return blank(found[0])


def blank(text: str) -> str:
    """Spaces in place of a text: as long, with the same lines."""
    return "\n".join([" " * len(line) for line in text.split("\n")])


@lru_cache(maxsize=KEPT_TEXTS)
def includes(source: str) -> tuple[Include, ...]:
    """Every `#include` outside of comments."""
    code = blank_non_code(source)
    return tuple(
        Include(*found.span(), found[2], found[1] == '"')
        for found in INCLUDE.finditer(source)
        if "#" in code[found.start() : found.end()]
    )


def kernels(code: str) -> Iterator[tuple[str, int]]:
    """Each `__global__` function of blanked code: its name, and where the bracket of its parameters opens.

    It is the last bracket of the declaration that is not an attribute's: macros for attributes come before the name.
    Macros for `__global__` count too; macros that make whole functions are not expanded.
    """
    macros = filter(None, (_WORD_FOR_GLOBAL.match(one[0]) for one in DIRECTIVE.finditer(code)))
    words = "|".join(["__global__", *(one[1] for one in macros)])
    plain = DIRECTIVE.sub(spaces, code)
    for found in re.finditer(rf"\b(?:{words})\b", plain):
        at, named = found.end(), None
        while (mark := _MARK.search(plain, at)) and mark[0] in "([":
            word = _WORD_BEFORE.search(plain, at, mark.start())
            if mark[0] == "(" and word and word[1] not in _NO_NAMES:
                named = word[1], mark.start()
            at = closing_bracket(plain, mark.start()) + 1
        if named:
            yield named


def closing_bracket(text: str, opened: int) -> int:
    """Index of the bracket that closes the one at `opened`, or the end of the text."""
    depth = 0
    for index in range(opened, len(text)):
        depth += (text[index] in "([{") - (text[index] in ")]}")
        if depth == 0:
            return index
    return len(text)


def split_commas(text: str) -> tuple[str, ...]:
    """The parts between the commas that are outside of all brackets."""
    return tuple("".join(part).strip() for part in parts(text)) if text.strip() else ()


def parts(text: str) -> Iterator[list[str]]:
    depth, part = 0, list[str]()
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(char)
    yield part
