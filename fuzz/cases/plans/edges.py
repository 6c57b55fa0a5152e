"""Where a kernel's work begins and ends: the sizes and columns at which off-by-one errors live.

They follow from the claim and the text of the kernel alone. Knows numbers in claims; it knows no values or verdicts.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.axes import Axis
from kfuzz.common.text.constants import numbers_in
from kfuzz.common.text.python_strings import tree_of

WARP, VECTOR = 32, 4
PRIMES = (11, 13, 17, 29, 61, 97, 127, 251, 509, 1021, 2039, 4093, 8191, 16381, 65521)
SMALL = tuple(range(1, 10))
TIMES, STEPS = (1, 2, 3, 4), (0, 1, -1, 2, 3)
LARGEST_WIDTH = 1 << 16
LARGEST_FLOAT = 3.4e38
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INTEGER = r"(?<![\w.])(?:0[xX][0-9a-fA-F]{1,8}|\d{1,7})[uUlL]{0,3}(?![\w.])"
FLOAT = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?(?=[fF]?(?![\w.]))")


def tuned_widths(kernel: Kernel, tune: Mapping[str, int]) -> tuple[int, ...]:
    """The launch parameters as widths, also times a vector of four, one at a time or unrolled."""
    return tuple(
        times * value
        for name, value in tune.items()
        for times in (1, VECTOR, *(VECTOR * times for times in unrolled(kernel.source, name)))
        if value > 1
    )


@lru_cache(maxsize=1024)
def unrolled(source: str, name: str) -> tuple[int, ...]:
    """The factors by which a stride is unrolled: the 4 of `i += 4 * THREADS` for a template parameter of that name."""
    written = re.findall(rf"\+=\s*({INTEGER})\s*\*\s*{name.upper()}\b", COMMENT.sub("", source))
    return tuple(sorted({int(times.rstrip("uUlL"), 16 if times[:2] in ("0x", "0X") else 10) for times in written}))


def widths(kernel: Kernel, tune: Mapping[str, int]) -> tuple[int, ...]:
    """The widths in which this kernel may divide its work: warps, vectors, tune values, numbers in its text."""
    tuned = [value for value in tune.values() if value > 1]
    found = {WARP, VECTOR, *tuned_widths(kernel, tune), *named_numbers(kernel)}
    found |= _numbers_with(kernel.source, tuple(tune.items()))
    for index, first in enumerate(tuned):
        found |= {first * second for second in tuned[index + 1 :]}
    return tuple(sorted(width for width in found if 2 < width <= LARGEST_WIDTH))


def named_numbers(kernel: Kernel) -> frozenset[int]:
    """The numbers in the kernel's claim and text."""
    return numbers_in_text(kernel.source) | kernel.literals


@lru_cache(maxsize=1024)
def numbers_in_text(source: str) -> frozenset[int]:
    """The integers in the text of a kernel, outside its comments, and what its constants make of them."""
    return numbers_in(source)


@lru_cache(maxsize=1024)
def _numbers_with(source: str, tune: tuple[tuple[str, int], ...]) -> frozenset[int]:
    """What the text makes of its launch parameters, `4 * THREADS`, with these values."""
    given = {spelled: frozenset((value,)) for name, value in tune for spelled in (name, name.upper())}
    return numbers_in(source, given) - numbers_in_text(source)


@lru_cache(maxsize=1024)
def floats(source: str) -> tuple[float, ...]:
    """The floats in the text of a kernel, outside its comments, other than 0 and 1; each once."""
    tree = tree_of(source)
    found = {float(text) for text in FLOAT.findall(COMMENT.sub("", source))} if tree is None else floats_of(tree)
    return tuple(sorted(value for value in found if value not in (0.0, 1.0) and value < LARGEST_FLOAT))


def floats_of(tree: ast.Module) -> set[float]:
    """The sizes of the floats in a Python file."""
    return {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, float)}


def edges(axis: Axis, around: Iterable[int]) -> tuple[int, ...]:
    """The sizes of an axis at an edge: small ones, both ends, primes, and those around multiples of widths.

    For a listed axis these are all its sizes.
    """
    if axis.listed:
        return axis.listed
    found = {*SMALL, *PRIMES, axis.lo, axis.lo + 1, axis.hi - 1, axis.hi}
    for width in around:
        found |= {times * width + step for times in TIMES for step in STEPS}
    by = axis.multiple
    return tuple(sorted({size - size % by for size in found if axis.lo <= size - size % by <= axis.hi}))


def columns(cols: int, around: Iterable[int]) -> tuple[int, ...]:
    """The columns of a row at which something begins or ends; negative ones count from the end."""
    found = {0, 1, cols // 2, cols - cols % VECTOR, cols - cols % VECTOR - 1}
    for width in around:
        found |= {width - 1, width, width + 1, 2 * width, cols - cols % width, cols - cols % width - 1}
    inside = sorted(column for column in found if 0 <= column < cols)
    return (*inside, *(-back for back in (1, 2, 3) if back <= cols))
