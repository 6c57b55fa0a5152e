"""Products of matrices of 8 bits: integers, and floats by a tensor core that keeps few bits.

docs/numerics.md#products-of-8-bits
"""

import math
from dataclasses import dataclass

import numpy as np

from kfuzz.oracle.numbers.elements import F32, I32, Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.tensor_cores import ADDERS, Adder
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import OPERATIONS_128, OPERATIONS_4096, ROUNDINGS_16
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def sum_narrow_products(N: BandSystem, a: Quantity, b: Quantity, name: str) -> Quantity | None:
    """The set of A B where the claim's accumulator is one of narrow types, else None."""
    if N.claim.accumulate == I32.name:
        return sum_integers(N, a, b)
    adder = ADDERS.get(N.claim.accumulate)
    return sum_cut_products(N, a, b, adder, name) if adder else None


def sum_integers(N: BandSystem, a: Quantity, b: Quantity) -> Quantity:
    """A product of integer matrices in 32 bits: exact below 2^31 and wrapped beyond, then rounded once."""
    known = N.is_point(a) and N.is_point(b)
    x, y = (np.asarray(v.lo, dtype=np.float64) for v in (a, b))
    with np.errstate(all="ignore"):
        exact, size = x @ y, np.abs(x) @ np.abs(y)  # below 2^53 every partial sum is exact
    is_integer = known and bool(all_of(x == np.rint(x)) and all_of(y == np.rint(y)))
    if not is_integer:
        every = np.ones(exact.shape, dtype=np.bool_)
        N.note(Reason(Why.UNKNOWN, about="sums in 32-bit integers of numbers that may not be integers"), every)
        return N.value(N.E.convert(np.where(every, -INF, 0.0)), N.E.convert(np.where(every, INF, 0.0)), every)
    limit = 2.0 ** (I32.bits - 1)
    beyond = size >= limit
    wrapped = np.where(beyond & (size < 2.0**53), np.mod(exact + limit, 2 * limit) - limit, exact)
    return N.round_once(N.E.convert(wrapped), N.E.convert(wrapped), False, "matmul", a, b)


@dataclass
class SumEnds:
    """The sets of running sums, as float64 ends."""

    lo: Reals
    hi: Reals


def sum_cut_products(N: BandSystem, a: Quantity, b: Quantity, adder: Adder, name: str) -> Quantity:
    """The set of A B where each step's terms, and each sum, are cut toward zero.

    With a claimed promotion, the sum of so many products is added to a float32 and begins again at 0.
    """
    x, y = (np.asarray(v.lo, dtype=np.float64) for v in (a, b))
    if not (N.is_point(a) and N.is_point(b)):
        every = np.ones((*x.shape[:-1], y.shape[-1]), dtype=np.bool_)
        N.note(Reason(Why.UNKNOWN, about="products of 8-bit floats that are not known exactly"), every)
        return N.value(N.E.convert(np.where(every, -INF, 0.0)), N.E.convert(np.where(every, INF, 0.0)), every)
    odd = ~np.isfinite(x), ~np.isfinite(y)
    x, y = np.where(odd[0], 0.0, x), np.where(odd[1], 0.0, y)
    terms, order = x.shape[-1], N.claim.order
    segment = N.claim.promote or max(terms, 1)
    in_order = order is not None and order.kind == "sequential"
    shape = (*x.shape[:-1], y.shape[-1])
    total = SumEnds(np.zeros(shape), np.zeros(shape))
    for first in range(0, terms, segment):
        at = slice(first, min(first + segment, terms))
        left, right = x[..., at], y[..., at, :]
        part = _add_in_order(N, left, right, adder) if in_order else _add_in_any_order(N, left, right, adder)
        total = _promote(total, part) if segment < terms else part
    lost = np.any(odd[0], axis=-1)[..., None] | np.any(odd[1], axis=-2)[..., None, :]
    lo, hi = np.where(lost, -INF, total.lo), np.where(lost, INF, total.hi)
    if any_of(lost):
        N.note(Reason(Why.NO_RULE), lost)
    made = N.value(N.E.convert(lo), N.E.convert(hi), lost, "matmul", a, b)
    made.name = name
    return made


def _exponents(N: BandSystem, x: Reals) -> Reals:
    """Two to the exponent of each number; a denormal has that of the least normal number of its type, and 0 none."""
    power = np.ldexp(1.0, np.frexp(x)[1] - 1)
    return np.where(x == 0, 0.0, np.maximum(power, min(N.least, 1.0)))


def _counts(x: Reals, y: Reals) -> tuple[Reals, Reals]:
    """How many of the products are positive, and how many negative."""
    up = [(side > 0).astype(np.float32) for side in (x, y)]
    down = [(side < 0).astype(np.float32) for side in (x, y)]
    return up[0] @ up[1] + down[0] @ down[1], up[0] @ down[1] + down[0] @ up[1]


def _cut(ends: SumEnds, digits: int) -> SumEnds:
    """A sum that is cut toward zero: a positive one may be less, a negative one more."""
    g = 2.0 ** (1 - digits) * OPERATIONS_128
    return SumEnds(np.where(ends.lo > 0, ends.lo * (1 - g), ends.lo), np.where(ends.hi < 0, ends.hi * (1 - g), ends.hi))


def _add_in_order(N: BandSystem, x: Reals, y: Reals, adder: Adder) -> SumEnds:
    """Steps along k as the terms lie: each step's unit follows from its own terms and from the sum so far."""
    shape = (*x.shape[:-1], y.shape[-1])
    run = SumEnds(np.zeros(shape), np.zeros(shape))
    for first in range(0, x.shape[-1], adder.together):
        at = slice(first, first + adder.together)
        left, right = x[..., at], y[..., at, :]
        top = _exponents(N, left).max(axis=-1)[..., None] * _exponents(N, right).max(axis=-2)[..., None, :]
        size = np.maximum(np.abs(run.lo), np.abs(run.hi))
        unit = np.maximum(top, size) * 2.0**-adder.kept
        positive, negative = _counts(left, right)
        exact, room = left @ right, (np.abs(left) @ np.abs(right)) * (OPERATIONS_128 - 1)
        run = _cut(SumEnds(
            run.lo + exact - (positive + (run.hi > 0)) * unit - room,
            run.hi + exact + (negative + (run.lo < 0)) * unit + room,
        ), adder.digits)  # fmt: skip
    return run


def _add_in_any_order(N: BandSystem, x: Reals, y: Reals, adder: Adder) -> SumEnds:
    """Steps of any products in any order: every partial sum is at most the sum of all sizes."""
    if not x.shape[-1]:
        return SumEnds(np.zeros((*x.shape[:-1], y.shape[-1])), np.zeros((*x.shape[:-1], y.shape[-1])))
    steps = math.ceil(x.shape[-1] / adder.together)
    top = _exponents(N, x).max(axis=-1)[..., None] * _exponents(N, y).max(axis=-2)[..., None, :]
    positive, negative = _counts(x, y)
    exact, size = x @ y, (np.abs(x) @ np.abs(y)) * OPERATIONS_4096
    unit = np.maximum(top, size) * 2.0**-adder.kept
    cut = steps * (unit + size * 2.0 ** (1 - adder.digits))  # of the sum: when it comes in, and when it is made
    room = size * (OPERATIONS_4096 - 1)
    return SumEnds(
        exact - positive * unit - np.where(positive > 0, cut, 0.0) - room,
        exact + negative * unit + np.where(negative > 0, cut, 0.0) + room,
    )


def _promote(total: SumEnds, part: SumEnds) -> SumEnds:
    """Add a part to a float32, rounded to the nearest."""
    lo, hi = total.lo + part.lo, total.hi + part.hi
    g = F32.u * ROUNDINGS_16
    return SumEnds(lo - np.abs(lo) * g - F32.tiny, hi + np.abs(hi) * g + F32.tiny)
