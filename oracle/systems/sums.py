"""The sets of sums, means, products of matrices and running sums: rules R2, R3, R13 to R16 of docs/formulas.md.

A term of a sum is multiplied, on its way, by one factor within 1 +- u for every addition it takes part in: so a sum
lies between the sums of its terms times e^-g and e^g, whatever the order. Knows no op. Long, for every kind of sum
(of terms, exponentials, products, matrices, running) stands beside the growth that all of them share.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kfuzz.oracle import base_two, exp_sum
from kfuzz.oracle.elements import F32, F64, FORMATS, TF32, Element, Reals
from kfuzz.oracle.rounding import HELD, NARROW_SUMS, Accuracy, adds_in_order, compensated
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.value import Quantity
from kfuzz.oracle.verdict import Reason, Why

if TYPE_CHECKING:
    from kfuzz.oracle.systems.band import Bands

INF = np.inf
ORDER_DECIDES = Reason(Why.ORDER_DECIDES)

MMA = 3.0
"""Units of u an addition in a tensor core costs (R14): it cuts where others round, which is 2 u, and cuts every term of
a block of b, and the sum that comes in, to the last place of the largest: (b + 1) / b times as often, b at least 4, and
the block's own sum once more. A denormal factor counts as the least normal number of its format, for it has that one's
exponent; where a factor is 0, so is the product, and it does not count: `counted`."""


@dataclass(frozen=True)
class Growth:
    """What a sum may do to each of its terms: e^-g to e^g, g = `each`; `lost` is what underflow takes from all.

    Under a named order, `each` is an array: the terms' own counts.
    """

    each: Any
    lost: float
    is_cast: bool

    @property
    def most(self) -> float:
        return float(np.max(self.each, initial=0.0))


def growth(N: "Bands", name: str, terms: int, products: int = 0, has_exps: bool = False, starts: int = 0) -> Growth:
    """The counts of one named sum as a growth; each number that it starts at is an addition more."""
    claim = N.claim.for_sum(name)
    adds: Any
    adds, rescales = (float(min(count, 2**40)) for count in claim.most(terms))
    rescales = rescales if has_exps else 0.0
    if claim.order is not None and not has_exps:
        adds = adds_in_order(claim.order, terms)
        if starts:  # put somewhere on the way of the products, or before them, as terms of the order
            adds = np.maximum(adds, adds_in_order(claim.order, terms + starts)[starts:] - starts)
    adds, terms = adds + starts * claim.of_one, terms + starts
    u, lost = N.u, products * terms * N.tiny
    each: Any
    match claim.accumulate:
        case F64.name if N.f is not F64:
            each, unit = adds * F64.u, F64.u
        case "compensated":
            each, unit = compensated(np.asarray(adds)) * u, u
        case narrow if narrow in NARROW_SUMS:
            held = NARROW_SUMS[narrow]
            each, unit = (adds + 1 + products) * held.u * (1 + held.u), held.u
            lost += 2 * terms * held.tiny
        case "mma":
            each, unit = adds * MMA * u, MMA * u
            lost += 2 * terms * N.tiny  # beside a denormal sum each is cut at 2^-151, and the block's sum at 2^-149
            if not products:
                lost += terms * N.least * math.expm1(min(float(each), 1.0)) * (1 + 2.0**-40)
        case _:
            each, unit = adds * u, u
    exact_products = claim.accumulate == "mma"
    each += 0.0 if exact_products else products * u * claim.of_one
    a0 = N.claim.exp.a0
    each += rescales * (a0 * u * (1 + a0 * u) + unit)  # R15: the exp in the working format, the product where sums are
    lost += 2 * rescales * terms * (N.tiny + a0 * N.tiny)
    lost += steps(claim) * terms * N.f.min_normal
    lost *= math.exp(min(float(np.max(each, initial=0.0)), 700.0)) * (
        1 + 2.0**-40
    )  # what underflows early is rounded with the rest
    return Growth(each * (1 + 4 * u), lost, claim.accumulate == F64.name and N.f is not F64)


def steps(claim: Accuracy) -> int:
    """How many numbers of an addition may be flushed, beside its denormal operands where all are flushed.

    Its result; of a compensated one the six of an exact addition, and two that keep what is over. An atomic one also
    flushes what it adds, a partial sum perhaps.
    """
    if not claim.ftz:
        return 2 if claim.atomics == "global" else 0
    return 8 if claim.accumulate == "compensated" else 1


def accumulator(N: "Bands", name: str) -> Element:
    return HELD.get(N.claim.for_sum(name).accumulate, N.f)


def total(
    N: "Bands", a: Quantity, name: str, axis: int = -1, products: int = 0, beside: Reals | float = 0.0
) -> Quantity:
    """R2: the sum of an axis in any order; `beside` is what it may be off by besides."""
    terms = a.shape[axis]
    if a.terms is not None and not products:
        made = exp_sum_of(N, a, name, axis)
        if made is not None:
            return made
    grown = growth(N, name, terms, products, a.terms is not None)
    lost: Any = grown.lost + beside
    if a.terms is not None:  # a rescale scales down what was itself as much larger: docs/numerics.md#lift
        lost = lost * a.terms.lift * (a.terms.lift if N.claim.for_sum(name).rescales != 0 else 1.0)
    if terms == 1 and not products and a.terms is None and N.claim.accumulate not in NARROW_SUMS:
        # to add zeros to one term changes nothing, but where an addition flushes what it is given
        may_vanish = np.maximum(np.abs(a.lo), np.abs(a.hi)) < N.f.min_normal
        lost = np.where(may_vanish, lost, 0.0) if steps(N.claim.for_sum(name)) else 0.0
        grown = Growth(0.0, 0.0, grown.is_cast)
    g: Any = grown.each if np.ndim(grown.each) == 0 or axis == -1 else grown.most
    if a.terms is not None and N.claim.for_sum(name).rescales != 0:
        g = grown.each + N.u * (1 + 2.0**-10) * a.terms.reach()  # every exponent of an online sum is rounded (R10)
    with np.errstate(all="ignore"):
        up = N.E.grow(g)
        down = 1 / up
        lo, hi = _grown(N, a, up, down)
        below, above = N.E.total(lo, hi, axis)
        positive = (a.lo >= 0).all(axis=axis, keepdims=True)
        below = np.where(positive, np.maximum(below - lost, 0.0), below - lost)
        above = above + lost
        below, above, nan = _special(N, a, below, above, axis)
        size = np.maximum(np.abs(lo), np.abs(hi))
        size = np.where(N.E.is_finite(size), size, 0.0).sum(axis=axis, keepdims=True) + lost
        over = size >= accumulator(N, name).max * (1 - 2.0**-20)
    made = _open(N, below, above, nan, over, ORDER_DECIDES, "sum", a)
    made = _cast(N, made, grown, accumulator(N, name))
    made.name = name
    return made


def _grown(N: "Bands", a: Quantity, up: Reals, down: Reals) -> Pair:
    """The terms of a sum, each end by the factor that takes it further out."""
    if N.E.eps and np.max(up) < INF:  # to take the further of both is faster than to choose by the sign
        return np.minimum(a.lo * down, a.lo * up), np.maximum(a.hi * up, a.hi * down)
    return np.where(a.lo >= 0, a.lo * down, a.lo * up), np.where(a.hi >= 0, a.hi * up, a.hi * down)


def _special(N: "Bands", a: Quantity, lo: Reals, hi: Reals, axis: int) -> tuple[Reals, Reals, Reals]:
    """Infinities of one sign win, of both make NaN, and so does NaN."""
    nan = any_along(a.nan, a.shape, axis)
    if np.all(N.E.is_finite(lo)) and np.all(N.E.is_finite(hi)):
        return lo, hi, nan

    def of_axis(mask: Reals) -> Reals:
        return np.asarray(np.asarray(mask).any(axis=axis, keepdims=True))

    may_rise, may_fall = of_axis((a.hi == INF) & (a.lo <= a.hi)), of_axis((a.lo == -INF) & (a.lo <= a.hi))
    rises, falls = of_axis((a.lo == INF) & (a.hi == INF)), of_axis((a.lo == -INF) & (a.hi == -INF))
    must = (rises & falls) | of_axis(a.lo > a.hi)
    lo, hi = np.where(may_fall, -INF, lo), np.where(may_rise, INF, hi)
    lo, hi = np.where(rises & ~may_fall, INF, lo), np.where(falls & ~may_rise, -INF, hi)
    lo, hi = np.where(N.E.is_nan(lo), -INF, lo), np.where(N.E.is_nan(hi), INF, hi)
    return np.where(must, INF, lo), np.where(must, -INF, hi), nan | (may_rise & may_fall) | must


def _open(N: "Bands", lo: Reals, hi: Reals, nan: Reals | bool, where: Reals, reason: Reason, *how: Any) -> Quantity:  # noqa: ANN401
    """A set, opened to everything where no rule reaches."""
    where = np.asarray(where, dtype=np.bool_) & ~np.asarray(lo > hi, dtype=np.bool_)
    if np.any(where):
        N.note(reason, where)
        lo, hi = np.where(where, -INF, lo), np.where(where, INF, hi)
        nan = np.asarray(nan) | where
    return N.value(lo, hi, nan, *how)


def opened(N: "Bands", lo: Reals, hi: Reals, nan: Reals | bool, where: Reals, reason: Reason, *how: Any) -> Quantity:  # noqa: ANN401
    """See `_open`; `where` may be smaller than the set."""
    return _open(N, lo, hi, nan, np.broadcast_to(where, np.broadcast_shapes(np.shape(where), lo.shape)), reason, *how)


def _cast(N: "Bands", a: Quantity, grown: Growth, held: Element) -> Quantity:
    """A sum in double is rounded once on its way back."""
    if not grown.is_cast or held is N.f:
        return a
    return N.rounded(a.lo, a.hi, a.nan, "rounded", a)


def exp_sum_of(N: "Bands", e: Quantity, name: str, axis: int) -> Quantity | None:
    """The sum of exponentials of the inputs themselves, by the counts of `exp_sum`; None where a term is no input."""
    terms = e.terms
    if not terms.is_direct or axis != -1 or e.how[:1] == ("kept",) or N.f is not F32:
        return None
    if N.claim.for_sum(name).accumulate in (*NARROW_SUMS, "mma"):
        return None
    x = np.asarray(terms.x.lo, dtype=np.float64)
    claim = N.claim.for_sum(name)
    shape = (*x.shape[:-1], 1)
    plain = terms.plain[..., 0]
    lo, hi = np.full(shape, INF), np.full(shape, -INF)
    if N.E.eps == 0.0:  # balls
        lo, hi = N.E.of(lo), N.E.of(hi)
        for place in np.argwhere(plain):
            index = tuple(place)
            balls = exp_sum.ball_sums(x[index], np.ones(x.shape[-1]), claim, True, 128)
            lo[(*index, 0)], hi[(*index, 0)] = balls.lo.lower(), balls.hi.upper()
    elif np.any(plain):
        row = exp_sum.sums(x[plain], np.ones((1, x.shape[-1])), claim, first_exp=True)
        scale = 2.0**-44
        lo[plain, 0], hi[plain, 0] = row.lo * (1 - scale), row.hi * (1 + scale)
    beyond = np.zeros(shape, dtype=np.bool_)
    if claim.exp.base_two and np.any(plain):
        beyond[plain, 0] = base_two.is_beyond(x[plain].max(axis=-1), x[plain], claim)
        for reason in base_two.reasons(beyond):
            N.note(replace(reason, count=0), beyond)
        lo, hi = np.where(beyond, -INF, lo), np.where(beyond, INF, hi)
    vanish = plain[..., None] & np.asarray(lo <= 0, dtype=np.bool_) & ~beyond
    made = _open(N, lo, hi, ~plain[..., None] | beyond, vanish, Reason(Why.SUM_UNDERFLOWS), "sum", e)
    made.name = name
    made.terms = e.terms
    return made


def mean(N: "Bands", a: Quantity, name: str, axis: int = -1) -> Quantity:
    """R3: sum / n, or sum * (1 / n), whose reciprocal is rounded, too; exact where n is a power of two."""
    n = a.shape[axis]
    s = total(N, a, name, axis)
    k = 0.0 if n & (n - 1) == 0 else 2.0
    made = N.relative(s.lo / n, s.hi / n, s.nan, k, 2 * N.tiny, "scaled", s)
    made.name = name
    return made


def dot(N: "Bands", a: Quantity, b: Quantity, name: str, axis: int = -1) -> Quantity:
    """The sum of products, with or without fused additions."""
    lo, hi, nan = N.multiplied(a, b)
    lo, hi = N.E.outward(lo, hi)
    products = Quantity(N, lo, hi, nan)
    if N.ftz:
        low = np.maximum(np.abs(lo), np.abs(hi)) < N.f.min_normal
        products.parts = (np.where(low, np.minimum(lo, 0.0), lo), np.where(low, np.maximum(hi, 0.0), hi), nan)
    if not is_mma(N, name):
        return total(N, products, name, axis, products=1)
    A, B = (counted(N, np.maximum(np.abs(v.lo), np.abs(v.hi))) for v in (a, b))
    own = np.maximum(np.abs(lo), np.abs(hi))
    more = np.maximum(A * B - np.where(np.asarray(N.E.is_finite(own), dtype=np.bool_), own, 0.0), 0.0)
    size = np.broadcast_to(more, products.shape).sum(axis=axis, keepdims=True)
    g = N.E.grow(growth(N, name, products.shape[axis], products=1).each) - 1
    return total(N, products, name, axis, products=1, beside=size * g * (1 + 2.0**-40))


def is_mma(N: "Bands", name: str) -> bool:
    """Whether a tensor core adds this sum up."""
    return N.claim.for_sum(name).accumulate == "mma"


def counted(N: "Bands", size: Reals) -> Reals:
    """What a tensor core takes the factors of a product for when it lays products side by side (R14).

    A factor that may be denormal counts as normal; one that is surely 0 leaves no product to be counted.
    """
    finite = np.where(np.asarray(N.E.is_finite(size), dtype=np.bool_), size, 0.0)
    is_zero = np.asarray(finite == 0, dtype=np.bool_)
    return np.asarray(np.where(np.asarray(finite < N.least, dtype=np.bool_) & ~is_zero, N.least, finite))


def operand(N: "Bands", a: Quantity) -> Quantity:
    """R13: an operand cut, or rounded, to the multiplier's format."""
    if N.claim.operand is None:
        return a
    form = FORMATS[N.claim.operand]
    if form.p >= N.f.p:
        return a
    if N.is_point(a) and a.lo.dtype != object and np.all(form.rounded(a.lo) == a.lo):
        return a
    with np.errstate(all="ignore"):
        lo, hi = N.E.stored(a.lo, a.hi, form)
        if form is TF32:
            lo = np.minimum(lo, a.lo - np.abs(a.lo) * 2 * form.u)
            hi = np.maximum(hi, a.hi + np.abs(a.hi) * 2 * form.u)
    return Quantity(N, lo, hi, a.nan)


def matmul(N: "Bands", a: Quantity, b: Quantity, name: str, starts: Sequence[Quantity] = ()) -> Quantity:
    """R2 for every element of A B: its centre, and radii by products of absolute values.

    What a sum starts at is a term of it that is no product: it grows as all do, and the sum takes an addition more.
    """
    a, b = operand(N, a), operand(N, b)
    terms = a.shape[-1]
    grown = growth(N, name, terms, products=1, starts=len(starts))
    odd_a, odd_b = _odd(N, a), _odd(N, b)
    any_odd = np.any(odd_a) or np.any(odd_b)
    ca, ra = _centre(N, a, odd_a)
    cb, rb = _centre(N, b, odd_b)
    with np.errstate(all="ignore"):
        centre, own = N.E.product(ca, cb)
        A, B = np.abs(ca), np.abs(cb)
        if ra is not None:
            A = A + ra
        if rb is not None:
            B = B + rb
        g = N.E.grow(grown.each) - 1 + own
        size, _ = N.E.product(A, B)
        if is_mma(N, name):
            radius = N.E.product(counted(N, A) * g, counted(N, B))[0]
        else:
            radius = size * g if np.ndim(g) == 0 else N.E.product(A * g, B)[0]
        if ra is not None:
            radius = radius + N.E.product(ra, B)[0]
        if rb is not None:
            radius = radius + N.E.product(np.abs(ca), rb)[0]
        lost: Any = grown.lost + terms * N.tiny
        if N.ftz:
            lost = lost + 2 * terms * N.f.min_normal + _flushed(N, A, B)
        radius = radius * (1 + 2.0**-40) + lost
        size = size * (1 + 2.0**-40) + radius
        for start in starts:
            most = np.maximum(np.abs(start.lo), np.abs(start.hi)) * N.E.grow(grown.most)
            size = size + np.where(np.asarray(N.E.is_finite(most), dtype=np.bool_), most, 0.0)
        over = size >= accumulator(N, name).max * (1 - 2.0**-20)
    lo, hi, nan = centre - radius, centre + radius, np.zeros(centre.shape, dtype=np.bool_)
    if any_odd:
        lo, hi, nan, open_ = _ieee_product(N, a, b, odd_a, odd_b, lo, hi)
        over = (over & ~nan) | open_
    for start in starts:
        lo, hi, nan = _from(N, Quantity(N, lo, hi, nan), start, grown)
    made = _open(N, lo, hi, nan, over, ORDER_DECIDES, "matmul", a, b, *starts)
    made = _cast(N, made, grown, accumulator(N, name))
    made.name = name
    return made


def _from(N: "Bands", product: Quantity, start: Quantity, grown: Growth) -> tuple[Reals, Reals, Reals]:
    """The set of a sum that starts there: not rounded again, for its additions are counted; special values meet."""
    with np.errstate(all="ignore"):
        up = N.E.grow(grown.most)
        below, above = _grown(N, start, up, 1 / up)
        below, above = N.E.outward(below, above)
    return N.added(product, Quantity(N, below, above, start.nan))


def _flushed(N: "Bands", A: Reals, B: Reals) -> Reals:
    """Products that one denormal factor makes zero."""
    least = N.f.min_normal
    low_a, low_b = np.where(least > A, A, 0.0), np.where(least > B, B, 0.0)
    return np.asarray(low_a @ B + A @ low_b)


def _odd(N: "Bands", a: Quantity) -> Reals:
    """Elements that are no finite number for certain."""
    return np.asarray(~(N.E.is_finite(a.lo) & N.E.is_finite(a.hi)) | a.nan, dtype=np.bool_)


def _centre(N: "Bands", a: Quantity, odd: Reals) -> tuple[Reals, Reals | None]:
    """Middle and radius; None for points. What is not finite counts as 0."""
    if N.is_point(a):
        return np.where(odd, 0.0, a.lo) if np.any(odd) else a.lo, None
    lo, hi = (np.where(odd, 0.0, end) for end in (a.lo, a.hi)) if np.any(odd) else (a.lo, a.hi)
    middle = (lo + hi) / 2
    return middle, np.maximum(hi - middle, middle - lo) * (1 + 4 * float(N.E.eps or 2.0**-100))


def _ieee_product(
    N: "Bands", a: Quantity, b: Quantity, odd_a: Reals, odd_b: Reals, lo: Reals, hi: Reals
) -> tuple[Reals, Reals, Reals, Reals]:
    """IEEE's special values where operands are known numbers, infinities or NaN; open where they are not."""
    known_a, known_b = _is_known(a), _is_known(b)
    if N.ftz:  # a flushed denormal times inf is NaN, an unflushed one is inf
        known_a, known_b = known_a & ~_is_low(N, a), known_b & ~_is_low(N, b)
    x, y = _plain(a), _plain(b)
    unknown = ~known_a
    open_ = (count(unknown) @ count(odd_b)) + (count(odd_a) @ count(~known_b)) > 0
    open_ |= count(unknown & odd_a) @ np.ones(y.shape) + np.ones(x.shape) @ count(~known_b & odd_b) > 0
    nan = count(np.isnan(x)) @ np.ones(y.shape) + np.ones(x.shape) @ count(np.isnan(y))
    nan = nan + count(np.isinf(x)) @ count(y == 0) + count(x == 0) @ count(np.isinf(y))
    inf_x, inf_y = np.where(np.isinf(x), np.sign(x), 0.0), np.where(np.isinf(y), np.sign(y), 0.0)
    sign_x, sign_y = np.nan_to_num(np.sign(x)), np.nan_to_num(np.sign(y))
    signed = inf_x @ sign_y + (sign_x * (inf_x == 0)) @ inf_y
    number = np.abs(inf_x) @ np.abs(sign_y) + (np.abs(sign_x) * (inf_x == 0)) @ np.abs(inf_y)
    infinite = (number > 0) & (np.abs(signed) == number)
    must = ((nan > 0) | ((number > 0) & ~infinite)) & ~open_
    end = np.copysign(INF, signed)
    lo, hi = np.where(infinite, end, lo), np.where(infinite, end, hi)
    return np.where(must, INF, lo), np.where(must, -INF, hi), must, open_


def count(mask: Reals) -> Reals:
    return np.asarray(mask, dtype=np.float64)


def _is_known(a: Quantity) -> Reals:
    return np.asarray((a.lo == a.hi) | (a.lo > a.hi), dtype=np.bool_)


def _is_low(N: "Bands", a: Quantity) -> Reals:
    return np.asarray((np.abs(a.lo) < N.f.min_normal) & (a.lo != 0), dtype=np.bool_)


def _plain(a: Quantity) -> Reals:
    """The one number of each known set, NaN for NaN."""
    lo = np.asarray(a.lo, dtype=np.float64)
    return np.where(np.asarray(a.lo > a.hi, dtype=np.bool_), np.nan, lo)


def running(N: "Bands", a: Quantity, name: str, exclusive: bool) -> Quantity:
    """R2 for the sum of all terms up to each; nothing is said from the first on that is not finite."""
    n = a.shape[-1]
    grown = growth(N, name, n)
    claim = N.claim.for_sum(name)
    place = np.arange(n)
    if claim.adds is None and claim.accumulate == F32.name:
        per_term = np.expm1(place * claim.of_one * N.u * (1 + 4 * N.u)) * (1 + 2.0**-40)
    else:
        per_term = np.where(place > 0, np.expm1(grown.most) * (1 + 2.0**-40), 0.0)
    odd = np.logical_or.accumulate(_odd(N, a), axis=-1)
    with np.errstate(all="ignore"):
        lo, hi = (np.where(odd, 0.0, end) for end in (a.lo, a.hi)) if np.any(odd) else (a.lo, a.hi)
        size = N.E.running(*(2 * (np.maximum(np.abs(lo), np.abs(hi)),)))[1]
        below, above = N.E.running(lo, hi)
        radius = size * per_term + (grown.lost)
        lo, hi = below - radius, above + radius
        over = size + radius >= accumulator(N, name).max * (1 - 2.0**-20)
    nan = np.broadcast_to(a.nan, a.shape)
    if exclusive:
        lo, hi, over, odd = (shifted(part) for part in (lo, hi, over, odd))
        nan = shifted(nan)
    made = _open(N, lo, hi, nan & ~odd, over | odd, ORDER_DECIDES, "running", a)
    made = _cast(N, made, grown, accumulator(N, name))
    made.name = name
    return made


def shifted(part: Reals) -> Reals:
    """One place to the right, a zero first."""
    first = np.zeros((*part.shape[:-1], 1), dtype=part.dtype)
    return np.concatenate([first, part[..., :-1]], axis=-1)


def any_along(mask: Reals, shape: tuple[int, ...], axis: int) -> Reals:
    """Whether any of an axis, which stays with one element."""
    if not np.any(mask):
        return np.zeros((), dtype=np.bool_)
    return np.asarray(np.broadcast_to(mask, shape).any(axis=axis, keepdims=True))


__all__ = ["Growth", "Pair", "dot", "growth", "matmul", "mean", "running", "total"]
