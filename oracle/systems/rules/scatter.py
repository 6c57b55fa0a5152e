"""Values that are added, or put, at places of an array: rule R18 of docs/formulas.md."""

from collections.abc import Callable

import numpy as np

from kfuzz.oracle.accuracy.rounding import NARROW_SUMS
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.exact import ScatterKind, scatter_places
from kfuzz.oracle.systems.intervals import is_zero
from kfuzz.oracle.systems.room import NO_OVERFLOW, OPERATIONS_4096
from kfuzz.oracle.systems.rules.growth import accumulator, flushed_numbers, growth
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, cast_back, open_where
from kfuzz.oracle.systems.rules.total import apply_special, grow_terms
from kfuzz.oracle.systems.value import Quantity

INF = np.inf
At = tuple[Reals, ...]


def scatter(
    N: BandSystem, into: Quantity, index: Reals, values: Quantity, how: ScatterKind, name: str, axis: int
) -> Quantity:
    """The array with each value added at its place, in any order; or put there: the last one, or any of them."""
    at = scatter_places(index, values.shape, axis)
    if how == "sum":
        return _add(N, into, at, values, name)
    return _put_last(N, into, at, values) if how == "last" else _put_any(N, into, at, values)


def _add(N: BandSystem, into: Quantity, at: At, values: Quantity, name: str) -> Quantity:
    """R18: a place's own number of terms counts; where one term meets an exact 0, or nothing is added, none rounds."""
    added = np.zeros(into.shape, dtype=np.int64)
    np.add.at(added, at, 1)
    terms = np.where(added > 0, added + ~is_zero(into), 0)
    each, lost = _growth_by_terms(N, terms, name)
    with np.errstate(all="ignore"):
        up = N.E.exp_above(each)
        low, high = _whole(into.lo, into), _whole(into.hi, into)
        sums = grow_terms(N, Quantity(N, low, high, into.nan), up, 1 / up)
        grown = grow_terms(N, Quantity(N, _whole(values.lo, values), _whole(values.hi, values)), up[at], 1 / up[at])
        below, above = (_sum_at(start, at, ends) for start, ends in zip(sums, grown, strict=True))
        size = _sum_at(_sizes(N, *sums), at, _sizes(N, *grown))
        rest = size * (N.E.eps * (terms + 2)) + lost
        positive = ~_any_at(lambda one: np.asarray(one.lo < 0, dtype=np.bool_), into, at, values)
        below = np.where(positive, np.maximum(below - rest, 0.0), below - rest)
        below, above = N.E.push_outward(below, above + rest)
        below, above, nan = apply_special(N, below, above, lambda test: _any_at(test, into, at, values))
        one = np.asarray((terms <= 1) & (lost == 0), dtype=np.bool_)  # added to an exact 0, or nothing is added
        plain = (_sum_at(start, at, _whole(ends, values)) for start, ends in ((low, values.lo), (high, values.hi)))
        below, above = (np.where(one, *pair) for pair in zip(plain, (below, above), strict=True))
        over = (size + rest >= accumulator(N, name).max * NO_OVERFLOW) & ~one
    made = open_where(N, below, above, nan, over, ORDER_DECIDES, "scatter", into, values)
    made = cast_back(N, made, growth(N, name, 1), accumulator(N, name))
    made.name = name
    return made


def _growth_by_terms(N: BandSystem, terms: Reals, name: str) -> tuple[Reals, Reals]:
    """The growth of each place's terms, and what each place may lose to underflow, by its number of terms."""
    each, lost = np.zeros(terms.shape), np.zeros(terms.shape)
    is_narrow = N.claim.for_sum(name).accumulate in NARROW_SUMS
    for count in np.unique(terms[terms > 0]):
        grown = growth(N, name, int(count))
        alone = count == 1 and not is_narrow
        each[terms == count] = 0.0 if alone else grown.most
        lost[terms == count] = 0.0 if alone and not flushed_numbers(N.claim.for_sum(name)) else grown.lost
    return each, lost


def _whole(part: Reals, like: Quantity) -> Reals:
    return np.broadcast_to(part, like.shape)


def _sum_at(start: Reals, at: At, values: Reals) -> Reals:
    made = np.array(start)
    np.add.at(made, at, values)
    return made


def _sizes(N: BandSystem, lo: Reals, hi: Reals) -> Reals:
    size = np.maximum(np.abs(lo), np.abs(hi))
    return np.where(np.asarray(N.E.is_finite(size), dtype=np.bool_), size, 0.0) * OPERATIONS_4096


def _any_at(test: Callable[[Quantity], Reals], into: Quantity, at: At, values: Quantity) -> Reals:
    """Whether a place's own number, or any value added to it, passes the test."""
    made = np.array(np.broadcast_to(test(into), into.shape), dtype=np.bool_)
    np.logical_or.at(made, at, np.broadcast_to(test(values), values.shape))
    return made


def _put_last(N: BandSystem, into: Quantity, at: At, values: Quantity) -> Quantity:
    def put(start: Reals, part: Reals) -> Reals:
        made = np.array(np.broadcast_to(start, into.shape))
        made[at] = np.broadcast_to(part, values.shape)
        return made

    known = into.lo is into.hi and values.lo is values.hi
    lo = put(into.lo, values.lo)
    made = N.value(lo, lo if known else put(into.hi, values.hi), put(into.nan, values.nan), "put", into, values)
    made.is_point = N.is_point(into) and N.is_point(values)
    return made


def _put_any(N: BandSystem, into: Quantity, at: At, values: Quantity) -> Quantity:
    """The hull of all values that are put at a place."""
    put = np.zeros(into.shape, dtype=np.bool_)
    put[at] = True
    lo = np.where(put, N.E.convert(np.full((), INF)), into.lo)
    hi = np.where(put, N.E.convert(np.full((), -INF)), into.hi)
    nan = np.array(np.broadcast_to(np.asarray(into.nan), into.shape) & ~put)
    np.minimum.at(lo, at, _whole(values.lo, values))
    np.maximum.at(hi, at, _whole(values.hi, values))
    np.logical_or.at(nan, at, np.broadcast_to(values.nan, values.shape))
    return N.value(lo, hi, nan, "put", into, values)
