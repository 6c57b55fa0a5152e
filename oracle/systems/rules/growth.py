"""The growth of a sum's terms by rounding, from a claim's counts: rules R2 and R14 to R16 of docs/formulas.md."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.counts import adds_in_order, compensated_growth
from kfuzz.oracle.accuracy.rounding import ACCUMULATOR_FORMATS, NARROW_SUMS, Accuracy
from kfuzz.oracle.numbers.elements import F64, Element, Reals
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import OPERATIONS_4096

MMA = 3.0
"""Units of u an addition in a tensor core costs (R14): it cuts where others round, which is 2 u, and cuts every term of
a block of b, and the sum that comes in, to the last place of the largest: (b + 1) / b times as often, b at least 4, and
the block's own sum once more. A denormal factor counts as the least normal number of its format, for it has that one's
exponent; where a factor is 0, so is the product, and it does not count: `counted`."""


@dataclass(frozen=True)
class Growth:
    """The factor of each term, e^-g to e^g with g = `each`, and the loss of the whole sum to underflow, `lost`.

    Under a named order, `each` is an array with a value for each term.
    """

    each: Any
    lost: float
    is_cast: bool

    @property
    def most(self) -> float:
        return float(np.max(self.each, initial=0.0))


def growth(N: BandSystem, name: str, terms: int, products: int = 0, has_exps: bool = False, starts: int = 0) -> Growth:
    """The growth of one named sum; each number at which it starts is one more addition."""
    claim = N.claim.for_sum(name)
    adds: Any
    adds, rescales = (float(min(count, 2**40)) for count in claim.most(terms))
    rescales = rescales if has_exps else 0.0
    if claim.order is not None and not has_exps:
        adds = adds_in_order(claim.order, terms)
        if starts:  # they join somewhere on the way of the products, or come first, as terms of the order
            adds = np.maximum(adds, adds_in_order(claim.order, terms + starts)[starts:] - starts)
    adds, terms = adds + starts * claim.roundings_per_addition, terms + starts
    u, lost = N.u, products * terms * N.tiny
    each: Any
    match claim.accumulate:
        case F64.name if N.f is not F64:
            each, unit = adds * F64.u, F64.u
        case "compensated":
            each, unit = compensated_growth(np.asarray(adds)) * u, u
        case narrow if narrow in NARROW_SUMS:
            held = NARROW_SUMS[narrow]
            each, unit = (adds + 1 + products) * held.u * (1 + held.u), held.u
            lost += 2 * terms * held.tiny
        case "mma":
            each, unit = adds * MMA * u, MMA * u
            lost += 2 * terms * N.tiny  # beside a denormal sum each is cut at 2^-151, and the block's sum at 2^-149
            if not products:
                lost += terms * N.least * math.expm1(min(float(each), 1.0)) * OPERATIONS_4096
        case _:
            each, unit = adds * u, u
    exact_products = claim.accumulate == "mma"
    each += 0.0 if exact_products else products * u * claim.roundings_per_addition
    a0 = N.claim.exp.a0
    each += rescales * (a0 * u * (1 + a0 * u) + unit)  # R15: the exp in the working format, the product where sums are
    lost += 2 * rescales * terms * (N.tiny + a0 * N.tiny)
    lost += flushed_numbers(claim) * terms * N.f.min_normal
    lost *= (
        math.exp(min(float(np.max(each, initial=0.0)), 700.0)) * OPERATIONS_4096
    )  # an early underflow is rounded with the rest
    lost *= 1 + 8 * N.E.eps  # it is added to ends far below it, and each sum is rounded, maybe inward
    return Growth(each * (1 + 4 * u), lost, claim.accumulate == F64.name and N.f is not F64)


def flushed_numbers(claim: Accuracy) -> int:
    """How many numbers of an addition may be flushed, besides its denormal operands.

    These are its result or, in a compensated sum, the six results of an exact addition and two that keep the excess.
    An atomic addition also flushes the number that it adds, which may be a partial sum.
    """
    if not claim.ftz:
        return 2 if claim.atomics == "global" else 0
    return 8 if claim.accumulate == "compensated" else 1


def accumulator(N: BandSystem, name: str) -> Element:
    return ACCUMULATOR_FORMATS.get(N.claim.for_sum(name).accumulate, N.f)


def is_mma(N: BandSystem, name: str) -> bool:
    """Whether a tensor core computes this sum."""
    return N.claim.for_sum(name).accumulate == "mma"


def mma_sizes(N: BandSystem, size: Reals) -> Reals:
    """The sizes that a tensor core assumes for the factors of a product when it aligns products (R14).

    A factor that may be denormal counts as normal; a product with a factor that is certainly 0 does not count.
    """
    finite = np.where(np.asarray(N.E.is_finite(size), dtype=np.bool_), size, 0.0)
    is_zero = np.asarray(finite == 0, dtype=np.bool_)
    return np.asarray(np.where(np.asarray(finite < N.least, dtype=np.bool_) & ~is_zero, N.least, finite))
