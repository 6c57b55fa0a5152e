"""Fits a formula to counts: the smallest that is at least each of them, in the names of the claim.

Sums of a few terms such as `ceil_div(cols, threads)` and `ceil_log2(min(cols, threads))`, and a number. Knows integers
and expressions; never what was counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.language import expression
from kfuzz.claims.language.reading import Sizes

Numbers = NDArray[np.int64]

WARP = 32
MULTIPLES = (2, 4, 8)
"""Widths: elements that a thread takes at once."""
MOST_TERMS = 4
BEAM = 200
"""The number of best sums that get another term."""
TERM_COSTS = 0.02
"""Another term must bring a formula this much nearer to the counts, on average and relative to them."""


@dataclass(frozen=True)
class Point:
    """Sizes, by all names that a formula may use, and the count at these sizes."""

    sizes: Sizes
    count: int


@dataclass(frozen=True)
class CountFormula:
    """An expression, and its average excess over the counts, relative to them; 0 if it is exact."""

    text: str
    excess: float

    def __call__(self, sizes: Sizes) -> int:
        return expression.number(self.text, sizes)(sizes)


def fit_formula(
    points: Sequence[Point], axes: Iterable[str], others: Iterable[str], numbers: Iterable[int]
) -> CountFormula:
    """The simplest formula that is at least the count at every point, and nowhere far above.

    `axes` grow; `others` (tune and let) and `numbers` of the text are widths in which work may be divided.
    """
    counts = np.array([point.count for point in points])
    if counts.min() == counts.max():
        return CountFormula(str(counts[0]), 0.0)
    terms = valued(points, candidates(tuple(axes), tuple(others), tuple(numbers)))
    names, columns = list(terms), np.array(list(terms.values()))
    chosen = min(searched(columns, counts), key=lambda found: (found[0], sum(len(names[i]) for i in found[1])))
    cost, which = chosen
    rest = int((counts - columns[list(which)].sum(axis=0)).max())
    tail = f" + {rest}" if rest > 0 else f" - {-rest}" if rest else ""
    return CountFormula(" + ".join(names[i] for i in which) + tail, cost - TERM_COSTS * len(which))


def searched(columns: Numbers, counts: Numbers) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Sums of columns with their costs: a beam of the best, each with one more column."""
    beam: list[tuple[int, ...]] = [()]
    for length in range(1, MOST_TERMS + 1):
        longer = sorted({tuple(sorted((*one, i))) for one in beam for i in range(len(columns)) if i not in one})
        if not longer:  # with counts at few sizes, few columns differ
            return
        costs = np.concatenate(
            [costs_of(columns[np.array(part)].sum(axis=1), counts) for part in in_parts(longer, 20_000)]
        )
        best = np.argsort(costs, kind="stable")[:BEAM]
        beam = [longer[i] for i in best]
        yield from ((float(costs[i]) + TERM_COSTS * length, longer[i]) for i in best)


def in_parts(items: list[tuple[int, ...]], most: int) -> Iterator[list[tuple[int, ...]]]:
    yield from (items[start : start + most] for start in range(0, len(items), most))


def costs_of(sums: Numbers, counts: Numbers) -> NDArray[np.float64]:
    """How far above the counts each sum lies on average, once a constant has raised it above all of them."""
    above = sums - counts
    lifted = above - above.min(axis=1, keepdims=True)
    found: NDArray[np.float64] = (lifted / (counts + 1.0)).mean(axis=1)
    return found


def valued(points: Sequence[Point], texts: Iterable[str]) -> dict[str, Numbers]:
    """The values of each candidate that varies; of those that differ only by a constant, the first."""
    found: dict[bytes, str] = {}
    values: dict[str, Numbers] = {}
    for text in texts:
        term = expression.number(text, points[0].sizes)
        try:
            column = np.array([term(point.sizes) for point in points], np.int64)
        except expression.ExpressionError:
            continue
        column_key = (column - column[0]).tobytes()
        if column.min() < column.max() and column_key not in found:
            found[column_key] = text
            values[text] = column
    return values


def candidates(axes: tuple[str, ...], others: tuple[str, ...], numbers: tuple[int, ...]) -> Iterator[str]:
    """The terms that loops and trees produce, the simplest first."""
    plain = [*others, *map(str, sorted({*numbers, *(WARP * times for times in (1, *MULTIPLES))}))]
    products = [f"{one} * {other}" for one, other in combinations(others, 2)]
    widths = [*plain, *(f"{times} * {name}" for name in others for times in MULTIPLES), *products]
    widths += [f"{times} * {product}" for product in products for times in MULTIPLES]
    yield from axes
    for axis in axes:
        yield from (f"ceil_div({axis}, {width})" for width in widths)
        yield f"ceil_log2({axis})"
        yield from (f"ceil_log2(min({axis}, {width}))" for width in (*others, "32"))
        yield from (f"min({axis}, {name})" for name in others)
    for name in others:
        yield from (name, f"ceil_log2({name})", f"ceil_div({name}, 32)", f"ceil_log2(ceil_div({name}, 32))")
    for one in others:
        yield from (f"ceil_div({one}, {other})" for other in others if other != one)
        yield from (f"ceil_log2(min({one}, {other}))" for other in others if other < one)
