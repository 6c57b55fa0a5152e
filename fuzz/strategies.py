"""Hypothesis strategies for your own `@given`: sizes, values, rows and whole cases, inferred from a kernel's claim.

    from hypothesis import given
    from kfuzz import load
    from kfuzz.strategies import attempts

    MINE = load("mine.cu")

    @given(attempts(MINE))
    def test_mine(attempt): ...

A draw takes a handful of choices at any size, since arrays are recipes, and shrinks towards one row of zeros.
Knows Hypothesis and the plan; edges, families and planners decide what makes an input hostile.
"""

from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from kfuzz.cases.case import Case
from kfuzz.cases.plans.choose import Choose
from kfuzz.cases.plans.edges import VECTOR, WARP, columns, edges
from kfuzz.cases.plans.families import ROWS, RowPlan
from kfuzz.cases.plans.plan import Attempt, plan
from kfuzz.cases.recipe import Recipe, mix
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.axes import Axis

SMALL_BUDGET = 1 << 12
"""Default number of elements of a case: small enough that a hundred examples take seconds."""


def sizes(axis: Axis, around: Iterable[int] = (WARP, VECTOR)) -> SearchStrategy[int]:
    """Any size of an axis, mostly one at an edge of the widths in `around`.

    Adjacent edges form one range of integers, so that a size at one edge may shrink to any other in the range.
    """
    if axis.listed:
        return st.sampled_from(axis.listed)
    by = axis.multiple
    counts = [size // by for size in edges(axis, tuple(around))]
    starts = [count for count in counts if count - 1 not in counts]
    ends = [count for count in counts if count + 1 not in counts]
    ranges = [(-(-axis.lo // by), axis.hi // by), *zip(starts, ends, strict=True)]
    return st.one_of([st.integers(first, last) for first, last in ranges]).map(lambda count: count * by)


def values() -> SearchStrategy[float]:
    """Any float32 but NaN and +inf, which few claims mention."""
    return st.floats(width=32, allow_nan=False).filter(lambda value: value != float("inf"))


@st.composite
def rows(draw: DrawFn, count: int, cols: int, around: Iterable[int] = (WARP, VECTOR)) -> Recipe:
    """Rows of one length, each of another family; `kfuzz.cases.recipe.materialise` makes the array."""
    start, seed = draw(st.integers(0, len(ROWS) - 1)), draw(st.integers(0, 0xFFFF))
    widths = tuple(around)
    inside = columns(cols, widths)
    bands = [
        ROWS[(start - index) % len(ROWS)](RowPlan(cols, inside, widths, mix(seed, start - index)))
        for index in range(max(1, count))
    ]
    return Recipe(count, cols, tuple(bands))


@st.composite
def attempts(draw: DrawFn, kernel: Kernel, budget: int = SMALL_BUDGET) -> Attempt:
    """A case that the kernel's claim admits, with at most about `budget` elements, and tune values for its launch."""
    choose: Choose = lambda lo, hi: draw(st.integers(lo, hi))  # noqa: E731  a choice is a draw
    return plan(kernel, choose, budget)


def cases(kernel: Kernel, budget: int = SMALL_BUDGET) -> SearchStrategy[Case]:
    """A case that the kernel's claim admits."""
    return attempts(kernel, budget).map(lambda attempt: attempt.case)
