"""The product of two matrices: rules R2 and R13 of docs/formulas.md for every element."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import FORMATS, TF32, Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import BALL_POINT, NO_OVERFLOW, OPERATIONS_4096, ROUNDINGS_16384
from kfuzz.oracle.systems.rules.growth import Growth, accumulator, growth, is_mma, mma_sizes
from kfuzz.oracle.systems.rules.narrow_product import sum_narrow_products
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, as_numbers, cast_back, odd_elements, open_where
from kfuzz.oracle.systems.rules.partial import largest_weights, products_may_overflow
from kfuzz.oracle.systems.rules.product import size_or_1
from kfuzz.oracle.systems.rules.total import grow_terms, present_terms
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def operand(N: BandSystem, a: Quantity) -> Quantity:
    """R13: cut or round an operand to the multiplier's format."""
    if N.claim.operand is None:
        return a
    form = FORMATS[N.claim.operand]
    if form.p >= N.f.p:
        return a
    if N.is_point(a) and a.lo.dtype != object and all_of(form.round(a.lo) == a.lo):
        return a
    with np.errstate(all="ignore"):
        lo, hi = N.E.round_ends(a.lo, a.hi, form)
        if form is TF32:
            lo = np.minimum(lo, a.lo - np.abs(a.lo) * 2 * form.u)
            hi = np.maximum(hi, a.hi + np.abs(a.hi) * 2 * form.u)
    made = Quantity(N, lo, hi, a.nan)
    made.absent, made.slack = a.absent, a.slack
    return made


def matmul(N: BandSystem, a: Quantity, b: Quantity, name: str, starts: Sequence[Quantity] = ()) -> Quantity:
    """R2 for every element of A B: its centre, and a radius by products of absolute values.

    A number at which a sum starts is a term that is not a product: it grows as all terms do, and is one more addition.
    """
    if not starts and (made := sum_narrow_products(N, a, b, name)) is not None:
        return made
    e = a
    a, b = operand(N, a), operand(N, b)
    terms = present_terms(N, a, name)
    grown = growth(N, name, terms, products=1, has_exps=e.terms is not None, starts=len(starts))
    odd_a, odd_b = odd_elements(N, a), odd_elements(N, b)
    any_odd = any_of(odd_a) or any_of(odd_b)
    ca, ra = _centre(N, a, odd_a)
    cb, rb = _centre(N, b, odd_b)
    with np.errstate(all="ignore"):
        centre, own = N.E.product(ca, cb)
        A, B = np.abs(ca), np.abs(cb)
        if ra is not None:
            A = A + ra
        if rb is not None:
            B = B + rb
        more, times = _rescaled(N, e, name)
        g = N.E.exp_above(grown.each + more) - 1 + own
        size, _ = N.E.product(A, B)
        if is_mma(N, name):
            radius = N.E.product(mma_sizes(N, A) * g, mma_sizes(N, B))[0]
        else:
            radius = size * g if np.ndim(g) == 0 else N.E.product(A * g, B)[0]
        if ra is not None:
            radius = radius + N.E.product(ra, B)[0]
        if rb is not None:
            radius = radius + N.E.product(np.abs(ca), rb)[0]
        lost: Any = grown.lost + terms * N.tiny + _lost_in_factors(N, a, b)
        if N.ftz:
            lost = lost + 2 * terms * N.f.min_normal + _flushed_products(N, A, B)
        lost = N.E.with_room(lost * times)  # its own sums are rounded, and that with ends far below it
        radius = radius * OPERATIONS_4096 + lost
        size = size * OPERATIONS_4096 + radius
        for start in starts:
            most = np.maximum(np.abs(start.lo), np.abs(start.hi)) * N.E.exp_above(grown.most)
            size = size + np.where(np.asarray(N.E.is_finite(most), dtype=np.bool_), most, 0.0)
        over = size >= accumulator(N, name).max * NO_OVERFLOW
        if e.terms is not None:
            held, grow = accumulator(N, name), N.E.exp_above(grown.most)
            over = over | products_may_overflow(largest_weights(N, e, name), B, grow, held)
    lo, hi, nan = centre - radius, centre + radius, np.zeros(centre.shape, dtype=np.bool_)
    if any_odd:
        lo, hi, nan, open_ = _ieee_product(N, a, b, odd_a, odd_b, lo, hi)
        over = over | open_
    for start in starts:
        lo, hi, nan = _add_start(N, Quantity(N, lo, hi, nan), start, grown)
    made = open_where(N, lo, hi, nan, over, ORDER_DECIDES, "matmul", a, b, *starts)
    made = cast_back(N, made, grown, accumulator(N, name))
    made.name = name
    # few products of matrices are asked for it
    made.slack = lambda: size_or_1(N, a).sum(-1, keepdims=True) + size_or_1(N, b).sum(-2, keepdims=True)
    return made


def _lost_in_factors(N: BandSystem, a: Quantity, b: Quantity) -> Reals | float:
    """What underflow costs if a factor of an operand is multiplied with the other operand first."""
    factors = [one.slack for one in (a, b) if np.ndim(one.slack)]
    if not factors:
        return 0.0
    chains = [np.broadcast_to(one.slack, one.shape) for one in (a, b)]
    return np.asarray(len(factors) * N.tiny * N.E.product(*chains)[0])


def _rescaled(N: BandSystem, e: Quantity, name: str) -> tuple[Reals | float, Reals | float]:
    """What a product of exponentials adds to a sum: to each term's growth (R10), and to underflow, as a factor."""
    if e.terms is None:
        return 0.0, 1.0
    if N.claim.for_sum(name).rescales == 0:
        return 0.0, e.terms.lift
    return N.u * ROUNDINGS_16384 * e.terms.reach(), e.terms.lift * e.terms.lift  # docs/numerics.md#lift


def _add_start(N: BandSystem, product: Quantity, start: Quantity, grown: Growth) -> tuple[Reals, Reals, Reals]:
    """Add a start to the set of a sum, without another rounding, since its additions are already counted."""
    with np.errstate(all="ignore"):
        up = N.E.exp_above(grown.most)
        below, above = grow_terms(N, start, up, 1 / up)
        below, above = N.E.push_outward(below, above)
    return N.exact_sum(product, Quantity(N, below, above, start.nan))


def _flushed_products(N: BandSystem, A: Reals, B: Reals) -> Reals:
    """The products that become zero because one factor is denormal."""
    least = N.f.min_normal
    low_a, low_b = np.where(least > A, A, 0.0), np.where(least > B, B, 0.0)
    return np.asarray(low_a @ B + A @ low_b)


def _centre(N: BandSystem, a: Quantity, odd: Reals) -> tuple[Reals, Reals | None]:
    """The middle and the radius, which is None for points. Elements that are not finite count as 0."""
    if N.is_point(a):
        return np.where(odd, 0.0, a.lo) if any_of(odd) else a.lo, None
    lo, hi = (np.where(odd, 0.0, end) for end in (a.lo, a.hi)) if any_of(odd) else (a.lo, a.hi)
    middle = (lo + hi) / 2
    return middle, np.maximum(hi - middle, middle - lo) * (1 + 4 * float(N.E.eps or BALL_POINT))


def _ieee_product(
    N: BandSystem, a: Quantity, b: Quantity, odd_a: Reals, odd_b: Reals, lo: Reals, hi: Reals
) -> tuple[Reals, Reals, Reals, Reals]:
    """Apply IEEE's special values where operands are known numbers, infinities or NaN; open other sets."""
    known_a, known_b = _is_known(a), _is_known(b)
    if N.ftz:  # a flushed denormal times inf is NaN, an unflushed one times inf is inf
        known_a, known_b = known_a & ~_is_low(N, a), known_b & ~_is_low(N, b)
    x, y = _plain(a), _plain(b)
    unknown = ~known_a
    open_ = (as_numbers(unknown) @ as_numbers(odd_b)) + (as_numbers(odd_a) @ as_numbers(~known_b)) > 0
    open_ |= as_numbers(unknown & odd_a) @ np.ones(y.shape) + np.ones(x.shape) @ as_numbers(~known_b & odd_b) > 0
    present_x, present_y = _present(a), _present(b)
    nan = as_numbers(np.isnan(x)) @ present_y + present_x @ as_numbers(np.isnan(y))
    nan = nan + as_numbers(np.isinf(x)) @ (present_y * (y == 0)) + (present_x * (x == 0)) @ as_numbers(np.isinf(y))
    may = np.zeros((), dtype=np.bool_)
    if a.absent is not None or b.absent is not None:  # a kernel that multiplies a 0 of the padding gets NaN
        may = (1 - present_x) @ as_numbers(~np.isfinite(y)) + as_numbers(~np.isfinite(x)) @ (1 - present_y) > 0
    inf_x, inf_y = np.where(np.isinf(x), np.sign(x), 0.0), np.where(np.isinf(y), np.sign(y), 0.0)
    sign_x, sign_y = np.nan_to_num(np.sign(x)), np.nan_to_num(np.sign(y))
    signed = inf_x @ sign_y + (sign_x * (inf_x == 0)) @ inf_y
    number = np.abs(inf_x) @ np.abs(sign_y) + (np.abs(sign_x) * (inf_x == 0)) @ np.abs(inf_y)
    infinite = (number > 0) & (np.abs(signed) == number)
    must = ((nan > 0) | ((number > 0) & ~infinite)) & ~open_
    end = np.copysign(INF, signed)
    lo, hi = np.where(infinite, end, lo), np.where(infinite, end, hi)
    return np.where(must, INF, lo), np.where(must, -INF, hi), must | may, open_


def _present(a: Quantity) -> Reals:
    """1 for every element that a kernel has to multiply."""
    return np.ones(a.shape) if a.absent is None else as_numbers(~np.broadcast_to(a.absent, a.shape))


def _is_known(a: Quantity) -> Reals:
    return np.asarray((a.lo == a.hi) | (a.lo > a.hi), dtype=np.bool_)


def _is_low(N: BandSystem, a: Quantity) -> Reals:
    return np.asarray((np.abs(a.lo) < N.f.min_normal) & (a.lo != 0), dtype=np.bool_)


def _plain(a: Quantity) -> Reals:
    """The one number of each known set, NaN for NaN."""
    lo = np.asarray(a.lo, dtype=np.float64)
    return np.where(np.asarray(a.lo > a.hi, dtype=np.bool_), np.nan, lo)
