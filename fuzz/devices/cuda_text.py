"""CUDA C++ as text: comments and literals, in which nothing of the language is to be found, and `#include` lines."""

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
_BRACKET = re.compile(r"[^;{}()]*?\b(\w+)\s*\(")
_NEXT_WORD = re.compile(r"\s*(\w*)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Include:
    """One `#include`: where its directive stands in the text, what it names, and whether in quotes."""

    start: int
    end: int
    name: str
    is_quoted: bool


def blanked(source: str) -> str:
    """The source with comments and literals replaced by spaces, of the same length and with the same lines."""
    return OPAQUE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


@lru_cache(maxsize=KEPT_TEXTS)
def includes(source: str) -> tuple[Include, ...]:
    """Every `#include` outside of comments."""
    code = blanked(source)
    return tuple(
        Include(*found.span(), found[2], found[1] == '"')
        for found in INCLUDE.finditer(source)
        if "#" in code[found.start() : found.end()]
    )


def kernels(code: str) -> Iterator[tuple[str, int]]:
    """Each `__global__` function of blanked code: its name, and where the bracket of its parameters opens.

    What has brackets before the name is an attribute, or a macro that stands for one: a word follows it.
    """
    for found in re.finditer(r"\b__global__\b", code):
        at = found.end()
        while named := _BRACKET.match(code, at):
            at = closing(code, named.end() - 1) + 1
            after = _NEXT_WORD.match(code, at)
            if named[1] not in ATTRIBUTES and after and after[1] in ("", "requires", *ATTRIBUTES):
                yield named[1], named.end() - 1
                break


def closing(text: str, opened: int) -> int:
    """Index of the bracket that closes the one at `opened`, or the end of the text."""
    depth = 0
    for index in range(opened, len(text)):
        depth += (text[index] in "([{") - (text[index] in ")]}")
        if depth == 0:
            return index
    return len(text)


def split_commas(text: str) -> tuple[str, ...]:
    """The parts between the commas that stand in no bracket of any kind."""
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
