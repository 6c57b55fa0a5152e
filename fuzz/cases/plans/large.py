"""Sizes that ordinary trials do not reach: more than 16 bits can count, and more than one turn of a whole grid.

Knows claims and numbers in them; it knows no values, runs or right answers.
"""

from collections.abc import Mapping
from itertools import product
from math import prod

from kfuzz.cases.plans.choose import Choose, one_of
from kfuzz.cases.plans.counting import elements
from kfuzz.cases.plans.edges import numbers_in_text
from kfuzz.cases.plans.loops import number_or_zero
from kfuzz.cases.plans.scale import (
    LARGEST,
    LONGEST,
    MANY,
    MOST_ELEMENTS,
    MOST_ROW_ELEMENTS,
    MOST_STEPS,
    MOST_THREADS,
    Large,
)
from kfuzz.cases.plans.sizes import Ground, array_elements, draw_tune, ground_of, row_axis, threads
from kfuzz.claims.corners import MOST_TUNES
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.formula_claims import each_count
from kfuzz.claims.language.launches import Launch

TUNE_TRIES = 4
OTHERS = 200
"""The largest size of the other axes: mostly several warps, since one warp alone runs in order."""


def large_size(kernel: Kernel, what: Large, choose: Choose) -> tuple[Ground, dict[str, int]] | None:
    """Launch parameters and sizes; None if the claim has no such sizes, or only some that take too long.

    `rows`, `elements`: more than 16 bits can count. `columns`: more elements in one row than 16 bits can count.
    `turns`: so many that each block of a full grid takes a second share. vast.py has `overflow` and `rung`.
    """
    found = _find_size(kernel, what, choose)
    if found is None:
        return None
    ground, axes = found
    values, workers = array_elements(kernel, axes, ground.tune), threads_of_rows(kernel, axes, ground.tune)
    is_small = values <= LARGEST and workers <= LARGEST and workers * additions(kernel, axes, ground.tune) <= MOST_STEPS
    return found if is_small else None


def threads_of_rows(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many threads all launches have together; those of a cluster count for each row that it takes in turn.

    The threads of a cluster meet in each row. A trial of 65548 rows of two columns, eight rows for each cluster of two
    blocks of 256 threads, took 28 s of a processor, 280 ns for a thread and a row.
    """
    row = row_axis(kernel)

    def turns(launch: Launch, sizes: Mapping[str, int]) -> int:
        if row is None or not launch.cluster:
            return 1
        clusters = _blocks(launch, sizes) // max(1, prod(size(sizes) for size in launch.cluster))
        return max(1, -(-axes[row] // max(1, clusters)))

    def count_threads() -> int:
        sizes = kernel.sizes(axes, tune)
        return sum(one.threads(sizes) * turns(one, sizes) for one in kernel.launches if one.is_made(sizes))

    return number_or_zero(kernel, count_threads)


def additions(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many additions lead from a term to a result, by the claim's count: about the work of a thread.

    If the claim is silent, it is the count that the oracle allows: that of one thread that works alone.
    """

    def count_terms() -> int:
        sizes = kernel.sizes(axes, tune)
        return 1 + sum(max(0, count(sizes)) for _, count in each_count("adds", kernel.rounding.adds))

    return number_or_zero(kernel, count_terms)


def _find_size(kernel: Kernel, what: Large, choose: Choose) -> tuple[Ground, dict[str, int]] | None:
    if what in ("overflow", "rung") or not kernel.axes:  # vast.py found no such size; or all sizes are fixed
        return None
    if what == "columns":
        return _draw_long_rows(kernel, choose)
    if what == "turns":
        return _draw_second_share(kernel, choose)
    if what == "rows" and len(kernel.axes) == 1 and (found := _draw_second_share(kernel, choose)):
        return found  # `elements` covers more elements than 16 bits can count
    tune = most_blocks(kernel) if what == "rows" else {name: min(values) for name, values in kernel.tune.items()}
    return ground_of(kernel, tune), _draw_many(kernel, what, choose)


def most_blocks(kernel: Kernel) -> dict[str, int]:
    """The launch that gives many rows the most blocks; among these, the one with the fewest threads.

    If possible, it is one that the claim allows there and that is not too large for a trial.
    """
    row = row_axis(kernel) or next(iter(kernel.axes))
    axes = {name: min(axis.hi, MANY + 64) if name == row else axis.lo for name, axis in kernel.axes.items()}
    axes[row] = kernel.axes[row].near(axes[row])
    every = [dict(zip(kernel.tune, values, strict=True)) for values in product(*kernel.tune.values())][:MOST_TUNES]
    every = [tune for tune in every if not kernel.where.broken({**axes, **tune})] or every
    every = [tune for tune in every if threads_of_rows(kernel, axes, tune) <= LARGEST] or every
    return min(every, key=lambda tune: (-_most_of_any(kernel, axes, tune), threads(kernel, axes, tune)))


def _most_of_any(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    def most() -> int:
        sizes = kernel.sizes(axes, tune)
        return max(_blocks(one, sizes) for one in kernel.launches if one.is_made(sizes))

    return number_or_zero(kernel, most)


def _blocks(launch: Launch, sizes: Mapping[str, int]) -> int:
    return prod(size(sizes) for size in launch.grid)


def _draw_many(kernel: Kernel, what: Large, choose: Choose) -> dict[str, int]:
    """More than 2^16 rows of a few columns, or more than 2^16 elements in rows of any length.

    Without an axis of rows, it is the first or the last of the axes that 16 bits cannot count.
    """
    axes = {name: axis.lo for name, axis in kernel.axes.items()}
    row = row_axis(kernel) or _beyond_16_bits(kernel)[0 if what == "rows" else -1]
    is_long = what == "rows" or row_axis(kernel) is None
    for name, axis in kernel.axes.items():
        if name != row:
            axes[name] = _draw_few(kernel, name, choose) if is_long else axis.near(choose(65, 300))
    axis = kernel.axes[row]
    wanted = MANY if is_long else -(-MANY // max(1, prod(axes.values()) // max(1, axes[row])))
    axes[row] = axis.near(wanted + choose(1, 64))
    return axes


def _draw_few(kernel: Kernel, name: str, choose: Choose) -> int:
    """The size of another axis: two or three, since with one column the place of a maximum is the same in every row.

    The first axis, along which launches grow, mostly counts independent heads or batches.
    """
    is_first = name == next(iter(kernel.axes))
    return kernel.axes[name].near(choose(1, 2) if is_first else choose(2, 3))


def _beyond_16_bits(kernel: Kernel) -> list[str]:
    """The axes that may be longer than 16 bits can count; all axes if there is none."""
    return [name for name, axis in kernel.axes.items() if axis.hi > MANY] or list(kernel.axes)


def _draw_long_rows(kernel: Kernel, choose: Choose) -> tuple[Ground, dict[str, int]] | None:
    """A few rows of more than 2^16 columns, or of more than some larger number in the text of the kernel.

    Without rows, it is the middle one of three axes, which no other large size makes so large.
    """
    row, names = row_axis(kernel), list(kernel.axes)
    inner = _beyond_16_bits(kernel)[1:-1]
    long = names[-1] if row else inner[0] if inner else None
    if long is None or long == row or kernel.axes[long].hi <= MANY:
        return None
    axes = {
        name: axis.near(choose(3, 8)) if row else _draw_few(kernel, name, choose) for name, axis in kernel.axes.items()
    }
    places = (MANY, *sorted(size for size in numbers_in_text(kernel.source) if MANY < size <= LONGEST))
    axes[long] = kernel.axes[long].near(one_of(choose, places) + choose(1, 64))
    few = max(1, MOST_ROW_ELEMENTS // axes[long])
    axes |= {name: kernel.axes[name].near(min(size, few)) for name, size in axes.items() if name != long}
    return ground_of(kernel, draw_tune(kernel, choose)), axes


def _draw_second_share(kernel: Kernel, choose: Choose) -> tuple[Ground, dict[str, int]] | None:
    """Sizes beyond the one at which a launch has all its blocks: up to twice that, or five times with one axis.

    A thread may take four elements at a time, but hardly four rows, which are slow.
    """
    first = choose(0, len(kernel.axes) - 1)
    most_times = 4 if len(kernel.axes) == 1 else 1
    names = [*list(kernel.axes)[first:], *list(kernel.axes)[:first]]
    for _ in range(TUNE_TRIES):
        tune = draw_tune(kernel, choose)
        for name, launch in product(names, kernel.launches):
            axis = kernel.axes[name]
            axes = {other: it.near(choose(1, OTHERS)) for other, it in kernel.axes.items()}
            full = full_grid(kernel, launch, axes, name, tune)
            if full is None:
                continue
            axes[name] = axis.near(full + choose(-(-full // 4), most_times * full))
            if elements(kernel, axes, tune) > MOST_ELEMENTS:
                axes[name] = axis.near(full + -(-full // 4))
            if elements(kernel, axes, tune) <= MOST_ELEMENTS and threads(kernel, axes, tune) <= MOST_THREADS:
                return ground_of(kernel, tune), axes
    return None


def full_grid(
    kernel: Kernel, launch: Launch, axes: Mapping[str, int], name: str, tune: Mapping[str, int]
) -> int | None:
    """The least size of an axis at which a launch has all its blocks, with the other axes fixed; None without one.

    A claim that bounds its grid has one: there each block goes on with the elements one grid further.
    """
    lo, hi = kernel.axes[name].lo, min(kernel.axes[name].hi, MOST_ELEMENTS)

    def blocks(size: int) -> int:
        return number_or_zero(kernel, lambda: _blocks(launch, kernel.sizes({**axes, name: size}, tune)))

    most = blocks(hi)
    if most in (1, blocks(lo)):
        return None
    while lo < hi:
        middle = (lo + hi) // 2
        lo, hi = (lo, middle) if blocks(middle) == most else (middle + 1, hi)
    return lo if lo <= min(kernel.axes[name].hi, MOST_ELEMENTS) // 2 else None
