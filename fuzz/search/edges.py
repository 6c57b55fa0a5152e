"""Where a kernel's work begins and ends: the sizes and columns at which off-by-one errors live.

Inferred from the claim and the text of the kernel alone. Knows numbers in claims; never values or verdicts.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from fuzz.claims.sizes import Axis
from fuzz.kernel import Kernel

WARP, VECTOR = 32, 4
PRIMES = (11, 13, 17, 29, 61, 97, 127, 251, 509, 1021, 2039, 4093, 8191, 16381, 65521)
SMALL = tuple(range(1, 10))
TIMES, STEPS = (1, 2, 3, 4), (0, 1, -1, 2, 3)
LARGEST_WIDTH = 1 << 16
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INTEGER = re.compile(r"(?<![\w.])(\d{1,5})(?![\w.])")


def tuned_widths(tune: Mapping[str, int]) -> tuple[int, ...]:
    """The widths that the launch parameters are, or make with vectors of four."""
    return tuple(times * value for value in tune.values() for times in (1, VECTOR) if value > 1)


def widths(kernel: Kernel, tune: Mapping[str, int]) -> tuple[int, ...]:
    """The widths in which this kernel may divide its work: warps, vectors, tune values, numbers in its text."""
    tuned = [value for value in tune.values() if value > 1]
    found = {WARP, VECTOR, *tuned_widths(tune)}
    for index, first in enumerate(tuned):
        found |= {first * second for second in tuned[index + 1 :]}
    claimed = [*kernel.let.values(), *(size for array in kernel.arrays.values() for size in array.shape)]
    for launch in kernel.launches:
        claimed += [*launch.grid, *launch.block, launch.shared, *([launch.when] if launch.when else [])]
    for expression in claimed:
        found |= expression.literals
    found |= numbers(kernel.source)
    return tuple(sorted(width for width in found if 2 < width <= LARGEST_WIDTH))


@cache
def numbers(source: str) -> frozenset[int]:
    """The integers in the text of a kernel, outside its comments."""
    return frozenset(map(int, INTEGER.findall(COMMENT.sub("", source))))


def edges(axis: Axis, around: Iterable[int]) -> tuple[int, ...]:
    """The sizes of an axis that lie at an edge: small ones, both ends, primes, and around multiples of widths."""
    found = {*SMALL, *PRIMES, axis.lo, axis.lo + 1, axis.hi - 1, axis.hi}
    for width in around:
        found |= {times * width + step for times in TIMES for step in STEPS}
    by = axis.multiple
    return tuple(sorted({size - size % by for size in found if axis.lo <= size - size % by <= axis.hi}))


def columns(cols: int, around: Iterable[int]) -> tuple[int, ...]:
    """The columns of a row at which something begins or ends; the last ones count from the end."""
    found = {0, 1, cols // 2, cols - cols % VECTOR, cols - cols % VECTOR - 1}
    for width in around:
        found |= {width - 1, width, width + 1, 2 * width, cols - cols % width, cols - cols % width - 1}
    inside = sorted(column for column in found if 0 <= column < cols)
    return (*inside, *(-back for back in (1, 2, 3) if back <= cols))
