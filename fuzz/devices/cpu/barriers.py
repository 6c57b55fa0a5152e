"""Proposes where a barrier is missing between two lines of a kernel, and writes it into the text.

Knows brackets, loops and what barriers look like. Whether a proposal prevents the race is for others to try.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from kfuzz.common.text.cuda_text import blank_non_code

BLOCK, WARP = "__syncthreads()", "__syncwarp()"
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_OF_BLOCK = re.compile(r"\b__syncthreads\w*\s*\(|\bsync\s*\(|\bbarrier|\basm\b")
_OF_ANY = re.compile(rf"\b__syncwarp\s*\(|{_OF_BLOCK.pattern}")


@dataclass(frozen=True)
class Braces:
    """The lines of a pair of braces."""

    first: int
    last: int
    is_loop: bool

    def holds(self, line: int) -> bool:
        """Whether a line lies in it, that of an opening brace included."""
        return self.first <= line <= self.last


@dataclass(frozen=True)
class Repair:
    """Barriers that may order two lines, each after a line of the text."""

    barrier: str
    between: int | None = None
    """The line after which one stands, before the second of the two lines."""
    behind: int | None = None
    """The line after which one stands, behind both: before they run again."""
    in_loop: bool = False
    in_branch: bool = False
    """Whether it stands in a branch, to which not all threads may come."""

    def write(self, source: str) -> str:
        """The text with the barriers; every line keeps its number."""
        lines, code = source.split("\n"), blank_non_code(source).split("\n")
        for line in filter(None, (self.between, self.behind)):
            end = len(code[line - 1].rstrip())
            lines[line - 1] = f"{lines[line - 1][:end]} {self.barrier}; {lines[line - 1][end:]}"
        return "\n".join(lines)


def propose_repairs(source: str, one: int, other: int, in_one_warp: bool) -> Iterator[Repair]:
    """Repairs for two lines of one function, the likeliest first: barriers of the block before those of a warp."""
    first, second = sorted((one, other))
    code = blank_non_code(source)
    scopes = list(_find_scopes(code))
    common = [each for each in scopes if each.holds(first) and each.holds(second) and each.first < each.last]
    if not common:
        return
    loop = max((each for each in common if each.is_loop), key=lambda each: each.first, default=None)
    inner = max(common, key=lambda each: each.first)
    between = None if first == second else _end_of(code, scopes, inner, first)
    if between is not None and between >= second:
        between = None
    behind = _end_of(code, scopes, loop or inner, second)
    outermost = min(common, key=lambda each: each.first)
    in_branch = any(not each.is_loop and each != outermost for each in common)
    barrier = _OF_ANY if in_one_warp else _OF_BLOCK
    is_between = any(barrier.search(text) for text in code.split("\n")[first : second - 1])
    for kind in (BLOCK, WARP) if in_one_warp else (BLOCK,):
        orders: list[tuple[int | None, int | None]] = [(None, behind)] if loop or is_between else []
        if between:
            same_turn = [(between, None), (between, behind)] if loop else [(between, None)]
            orders = [*orders, *same_turn] if is_between else [same_turn[0], *orders, *same_turn[1:]]
        yield from (Repair(kind, *lines, loop is not None, in_branch) for lines in orders)


def _find_scopes(code: str) -> Iterator[Braces]:
    """The scopes of functions, and those in them."""
    opened: list[tuple[int, bool, bool]] = []
    line, since = 1, 0
    for at, letter in enumerate(code):
        line += letter == "\n"
        if letter == "{":
            is_in_function = any(one for _, _, one in opened)
            is_loop = is_in_function and bool(_LOOP.search(code, since, at))
            opened.append((line, is_loop, is_in_function or ")" in code[since:at]))
        elif letter == "}" and opened:
            first, is_loop, is_in_function = opened.pop()
            if is_in_function:
                yield Braces(first, line, is_loop)
        if letter in "{}" or (letter == ";" and not _is_in_brackets(code, since, at)):
            since = at + 1


def _is_in_brackets(code: str, since: int, at: int) -> bool:
    return code.count("(", since, at) > code.count(")", since, at)


def _end_of(code: str, scopes: list[Braces], outer: Braces, line: int) -> int:
    """The last line of the statement of `outer` that a line belongs to."""
    inside = [each for each in scopes if each != outer and outer.first <= each.first and each.last <= outer.last]
    end = 0
    while more := [each.last for each in inside if each.holds(end or line) and each.last > end]:
        end = max(more)  # from the end of a branch on to that of its else
    if end:
        return end
    lines = code.split("\n")
    ends = chain((at for at in range(line, outer.last) if lines[at - 1].rstrip().endswith((";", "}"))), (line,))
    return next(ends)
