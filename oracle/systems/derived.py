"""The derived rules: what intervals alone would say too loosely of an exponential, a variance and a weighted mean.

R4, R7, R10 to R12 and R17 of docs/formulas.md: each holds under a precondition that it asks for itself; where it does
not hold the plain, looser rule is taken, and where a term is no finite number nothing is said. Knows no op.
Long, for a rule's precondition, its terms and its proof's constants are read together, three rules of 150 lines.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kfuzz.oracle import base_two
from kfuzz.oracle.elements import F64, FORMATS, Reals
from kfuzz.oracle.rounding import DIVIDE_ROUNDINGS, HELD
from kfuzz.oracle.systems import sums
from kfuzz.oracle.systems.value import Quantity
from kfuzz.oracle.verdict import Reason, Why

if TYPE_CHECKING:
    from kfuzz.oracle.systems.band import Bands

INF = np.inf
NO_NUMBER = Reason(Why.NO_RULE)


@dataclass(frozen=True)
class Terms:
    """Exponentials relative to a shift: what a kernel subtracts may be `slop` off the one that is meant.

    `reach()`: how large the exponents may be, which few ask; `lift`: e^slop; `is_direct`: of inputs; `plain`: rows of a
    finite maximum.
    """

    x: Quantity
    reach: Callable[[], Reals]
    slop: Reals | float
    lift: Reals | float
    is_direct: bool
    plain: Reals
    top: Quantity


def lift(terms: Terms, N: "Bands") -> Reals | float:
    return terms.lift


def shift(N: "Bands", a: Quantity, axis: int = -1) -> Quantity:
    """R10: a shift cancels, so any point will do: the maximum of the middles. A kernel's own is at most `slop` off."""
    if not a.shape[axis]:
        return N.max(a, axis)
    nan = sums.any_along(a.nan, a.shape, axis)
    with np.errstate(all="ignore"):
        middle = a.lo if N.is_point(a) else np.where(np.asarray(a.lo == a.hi, dtype=np.bool_), a.lo, (a.lo + a.hi) / 2)
        top = np.maximum.reduce(middle, axis=axis, keepdims=True)
        slop: Any = 0.0
        if not N.is_point(a):
            highest, lowest = (np.maximum.reduce(end, axis=axis, keepdims=True) for end in (a.hi, a.lo))
            off = np.maximum(highest - top, top - lowest)
            slop = np.where(N.E.is_finite(off), off, np.where(np.asarray(np.abs(top) == INF, dtype=np.bool_), 0.0, INF))
    empty = np.asarray(top == -INF, dtype=np.bool_) & ~nan
    if np.any(empty):
        N.masked.append(empty)
    if N.all_masked == "zero" and np.any(empty):
        top = np.where(empty, N.E.of(np.zeros(())), top)
    made = N.value(top, top, nan, "shift", a, slop, axis)
    if np.any(nan):
        made.parts = (np.where(nan, -INF, top), np.where(nan, INF, top), nan)
    return made


def exponential(N: "Bands", a: Quantity) -> Quantity:
    """R4: exp^(t) = e^t (1 +- (a0 + kappa |t|) u) +- eta, exact at 0 and -inf; below its end no larger."""
    if a.below is None:
        return N.value(*_exp(N, a.lo, a.hi, a.lo, a.hi, 0.0, 1.0), a.nan, "exp", a)
    x, top = a.below
    claim = N.claim
    is_direct = N.is_point(x) and not np.any(top.how[2])
    known_top = np.asarray(top.lo, dtype=np.float64)
    known_top = np.where(np.isfinite(known_top), known_top, 0.0)
    slop = top.how[2] + claim.shift_slack
    if is_direct and claim.exp.base_two:
        slop = slop + base_two.stray(known_top, claim)
    exact = is_direct and not np.any(slop) and not claim.exp.base_two
    raised: Any
    with np.errstate(all="ignore"):
        if claim.shift == "zero":
            lo, hi = N.E.outward(x.lo - top.lo, x.hi - top.lo)
            raised = N.E.grow(np.asarray(np.minimum(-known_top, 1e4)))
            size = np.minimum(np.maximum(np.abs(x.lo), np.abs(x.hi)), far(N))
            if claim.exp.base_two:
                g = (1 + base_two.LOG2_E) * N.u * (1 + 2.0**-12) * size
                lo, hi = lo - g, hi + g
            parts = _exp(N, lo, hi, x.lo, x.hi, 0.0, raised, can_be_one=not claim.exp.base_two)
            reach = partial(np.asarray, size)
        elif exact and claim.exact_shift:
            lo, hi = N.E.stored(*N.E.added(x.lo, -top.lo), N.f) if N.is_point(x) else (a.lo, a.hi)
            parts = _exp(N, lo, hi, lo, hi, 0.0, 1.0)
            reach, raised = partial(np.zeros, ()), 1.0
        else:
            lo, hi = a.lo, a.hi
            if not exact:
                lo, hi = N.E.outward(x.lo - top.lo, x.hi - top.lo)
                size = np.maximum(np.abs(lo), np.abs(hi))
                g = _place(size, slop, far(N)) * N.u * (1 + 2.0**-20)
                if is_direct and claim.exp.base_two:
                    size = np.minimum(np.where(N.E.is_finite(size), size, far(N)), far(N)) + slop
                    own = base_two.own(known_top, np.asarray(x.lo, dtype=np.float64), claim)
                    g = ((1 + base_two.LOG2_E) * size + own) * N.u * (1 + 2.0**-12)
                elif not is_direct:
                    g, slop = g + _folded(N, x, top), slop + N.u * 2 * _largest(x, top)
                lo, hi = lo - g, hi + g
            if is_anew(N, is_direct):
                lo, hi = lo - slop, hi + slop
            raised = N.E.grow(np.minimum(slop, 1e4)) if not exact else 1.0
            parts = _exp(N, lo, hi, lo, hi, slop, raised, can_be_one=exact)
            reach = partial(_reach, N, lo, hi, slop)
        lo, hi = parts
    made = N.value(*_under_any(a, top, lo, hi), "exp", a)
    plain = np.asarray(np.abs(top.lo) < INF, dtype=np.bool_) & ~np.asarray(top.nan)
    made.terms = Terms(x, reach, slop, raised, is_direct, plain, top)
    return made


def _reach(N: "Bands", lo: Reals, hi: Reals, slop: Reals | float) -> Reals:
    size = np.maximum(np.abs(lo), np.abs(hi))
    return np.asarray(np.minimum(np.where(N.E.is_finite(size), size, far(N)), far(N)) + 2 * slop)


def is_anew(N: "Bands", is_direct: bool) -> bool:
    """Whether what is divided by may have scores, and a shift, that were computed anew, and were rounded otherwise.

    A score that is no input need not come out alike where a compiler computes it twice: Triton does, for each layout.
    """
    return N.claim.denominator == "element" and not is_direct


def _under_any(a: Quantity, top: Quantity, lo: Reals, hi: Reals) -> tuple[Reals, Reals, Reals]:
    """The set, NaN alone where nothing but -inf stands below the exp; anything where what is subtracted may be NaN.

    A score may be NaN where the order of its sum decides. The row is NaN for certain only if the score is.
    """
    must = (a.lo > a.hi) | np.asarray((top.lo == -INF) & (top.hi == -INF), dtype=np.bool_)
    lo, hi, nan = np.where(must, INF, lo), np.where(must, -INF, hi), a.nan | must
    if np.any(top.nan):
        unknown = np.broadcast_to(top.nan, must.shape) & ~must
        lo, hi, nan = np.where(unknown, 0.0, lo), np.where(unknown, INF, hi), nan | unknown
    return lo, hi, nan


def _largest(x: Quantity, top: Quantity) -> Reals:
    """The largest size of a finite exponent of each row."""
    size = np.asarray(np.maximum(np.abs(x.lo), np.abs(x.hi)), dtype=np.float64)
    return np.asarray(np.where(np.isfinite(size), size, 0.0).max(axis=top.how[3], keepdims=True, initial=0.0))


def _folded(N: "Bands", x: Quantity, top: Quantity) -> Reals | float:
    """What exp2(x c - fl(m c)) adds where a shift of scores may be folded into the scale: u |m| whenever m changes."""
    if N.claim.shift != "any":
        return 0.0
    most = [N.claim.rescales] if not isinstance(N.claim.rescales, Mapping) else list(N.claim.rescales.values())
    times = max((x.shape[-1] if count is None else count) for count in most or [None])
    return np.asarray(_largest(x, top) * N.u * (1 + 2.0**-10) * (2 * min(times, 2**40) + 1 + 2 * base_two.LOG2_E))


def scale_of(N: "Bands", s: Quantity) -> tuple[Reals | float, Reals | float]:
    """What a sum of exponentials is to be multiplied by to be the one that is stored: at least, and at most."""
    if s.terms is None:
        return 1.0, 1.0
    with np.errstate(all="ignore"):
        if N.claim.shift == "zero":
            top = np.exp(np.asarray(s.terms.top.lo, dtype=np.float64))
            return top, top
        lift = np.asarray(s.terms.lift, dtype=np.float64)
        return 1 / lift, lift


def far(N: "Bands") -> float:
    """From here down e^t is below half of the least number."""
    return -math.log(N.f.tiny) + 0.03


def _place(reach: Reals, slop: Reals | float, most: float) -> Reals:
    """What the difference of a term and a shift `slop` off is rounded by, in u: the power of two at or below it."""
    size = np.asarray(reach + slop, dtype=np.float64)
    size = np.where(np.isfinite(size), size, most) * (1 + 2.0**-50)
    mantissa, power = np.frexp(size)
    return np.where(mantissa > 0, np.ldexp(1.0, power - 1), 0.0)


def _exp(
    N: "Bands",
    lo: Reals,
    hi: Reals,
    argument_lo: Reals,
    argument_hi: Reals,
    slop: Reals | float,
    raised: Reals | float,
    can_be_one: bool = True,
) -> tuple[Reals, Reals]:
    """The set of exp^ over [lo, hi] by its ends; the arguments are what exp itself is given."""
    model, most = N.claim.exp, far(N)
    eta = N.f.min_normal * (1 + 2.0**-10) if N.ftz else (model.a0 + most * model.kappa) * N.f.tiny
    is_nothing = np.asarray(hi == -INF, dtype=np.bool_)
    hi_held = np.maximum(hi, -most + slop)
    if np.any(is_nothing):
        hi_held = np.where(is_nothing, hi, hi_held)
    below, above = N.E.function("exp", lo, hi_held)
    size = np.maximum(np.abs(argument_lo), np.abs(argument_hi)) + slop if model.kappa else np.zeros(())
    size = size if np.all(is_finite := N.E.is_finite(size)) else np.where(is_finite, size, most)
    size = np.minimum(size, np.maximum(most, _longest(N)))
    g = (model.a0 + model.kappa * size) * N.u * (1 + 2.0**-12)
    zero = np.asarray((argument_lo == 0) & (argument_hi == 0), dtype=np.bool_) if can_be_one else False
    below, above = np.maximum(below * (1 - g) - eta * raised, 0.0), above * (1 + g) + eta * raised
    is_far = (lo < -most - slop) | (argument_lo < -most - slop)
    below = _put(0.0, is_far, below)
    above = _put(0.0, is_nothing, above)
    if np.any(zero):  # few are: 1, or e^-shift where nothing is subtracted
        at = np.broadcast_to(zero, below.shape)
        below[at], above[at] = N.E.function("exp", *(np.broadcast_to(end, at.shape)[at] for end in (lo, hi)))
    above = _put(INF, above > N.f.max, above)
    below = _put(N.f.max, below > N.f.max, below)
    empty = np.asarray(lo > hi, dtype=np.bool_)
    return _put(INF, empty, below), _put(-INF, empty, above)


def _put(value: float, where: Reals, other: Reals) -> Reals:
    """A value in some places."""
    return np.where(where, value, other) if np.any(where) else np.asarray(other)


def _longest(N: "Bands") -> float:
    return math.log(N.f.max) if N.f is not F64 else 710.0


# -- the variance


def mean_var(N: "Bands", x: Quantity, names: tuple[str, str], correction: int) -> tuple[Quantity, Quantity]:
    """The mean and the variance of the last axis, by the form that is claimed: two pass, welford or moments (R8)."""
    n = x.shape[-1]
    if N.form.startswith("welford"):
        mean, squares = _welford(N, x, names)
    elif N.form.startswith("moments"):
        mean = sums.mean(N, x, names[0])
        second = sums.dot(N, x, x, names[1])
        spread = N.sub(scaled(N, second, n), N.mul(mean, mean))
        return mean, spread if not correction else N.mul(
            spread, N.number(n / (n - correction) if n > correction else INF)
        )
    else:
        mean = sums.mean(N, x, names[0])
        squares = two_pass(N, x, mean, names[1])
    variance = scaled(N, squares, n - correction)
    variance.name = names[1]
    return mean, variance


def scaled(N: "Bands", a: Quantity, n: int) -> Quantity:
    """a / n, or a (1 / n)."""
    if n <= 0:
        return N.divided(a, N.number(float(n)), 1)
    return N.relative(a.lo / n, a.hi / n, a.nan, 0.0 if n & (n - 1) == 0 else 2.0, 2 * N.tiny, "divided by n", a, n)


@dataclass(frozen=True)
class Moments:
    """The exact mean and how far it may be off; sum (x - mean)^2 at least and at most; the largest deviation."""

    middle: Reals
    wrong: Reals
    least: Reals
    most: Reals
    spread: Reals
    odd: Reals


def _moments(N: "Bands", x: Quantity) -> Moments:
    """The moments of the numbers in a set, and which rows are odd.

    Where x is a box of radii r, the mean moves by at most their mean, and the root of the sum of squares, which is the
    length of a projection of x, by at most their length.
    """
    finite = np.asarray(N.E.is_finite(x.lo) & N.E.is_finite(x.hi) & ~np.asarray(x.nan), dtype=np.bool_)
    odd = np.asarray(~finite.all(axis=-1, keepdims=True))
    lo, hi = (np.where(odd, 0.0, end) for end in (x.lo, x.hi)) if np.any(odd) else (x.lo, x.hi)
    points = lo if N.is_point(x) else (lo + hi) / 2
    middle, wrong, least, most = _moments_of(N, points)
    spread = np.abs(points - middle).max(axis=-1, keepdims=True, initial=0.0) + wrong
    if not N.is_point(x):
        radii = np.maximum(hi - points, points - lo) * (1 + 2.0**-45)
        length = _root(N, (radii * radii).sum(axis=-1, keepdims=True) * (1 + 2.0**-40))
        root = N.E.function("sqrt", least, least)[0]
        least = np.maximum(root - length, 0.0) * np.maximum(root - length, 0.0) * (1 - 2.0**-45)
        root = _root(N, most) + length
        most = root * root * (1 + 2.0**-45)
        wrong = wrong + radii.sum(axis=-1, keepdims=True) / x.shape[-1] * (1 + 2.0**-40)
        spread = spread + 2 * radii.max(axis=-1, keepdims=True, initial=0.0)
    return Moments(middle, wrong, least, most, spread, odd)


def _moments_of(N: "Bands", points: Reals) -> tuple[Reals, Reals, Reals, Reals]:
    """The mean and how far it may be off, sum (x - mean)^2 at least and at most, of numbers."""
    n = points.shape[-1]
    first = points.sum(axis=-1, keepdims=True) / n
    off = points - first
    middle = first + off.sum(axis=-1, keepdims=True) / n
    off = points - middle
    eps = float(N.E.eps) or 2.0**-90
    wrong = np.abs(middle) * eps + np.abs(off).max(axis=-1, keepdims=True, initial=0.0) * (8 + min(n, 80)) * eps
    squares = (off * off).sum(axis=-1, keepdims=True)
    rest = squares * ((min(n, 80) + 8) * 4 * eps) + n * wrong * wrong
    return middle, wrong, np.maximum(squares - rest, 0.0), squares + rest


def two_pass(N: "Bands", x: Quantity, mean: Quantity, name: str) -> Quantity:
    """R7: sum (x_j - m)^2 = sum (x_j - mean)^2 + n (mean - m)^2, so the mean's error enters squared, and only once.

    Precondition: x is an input, and m its own computed mean. Elsewhere the plain rule. The step remembers how much the
    sum may be at most for an m that is better known: of an f64 sum m is not the one that is stored.
    """
    if not N.is_point(x):
        off = N.sub(x, mean)
        return sums.dot(N, off, off, name)
    n = x.shape[-1]
    with np.errstate(all="ignore"):
        moments = _moments(N, x)
        middle, wrong, least, most, odd = moments.middle, moments.wrong, moments.least, moments.most, moments.odd
        away = np.maximum(np.abs(mean.hi - middle), np.abs(mean.lo - middle)) + wrong
        near = np.maximum(np.maximum(mean.lo - middle, middle - mean.hi) - wrong, 0.0)
        grown = sums.growth(N, name, n, products=1)
        up = N.E.grow(grown.most + 2 * N.u * (1 + N.u))  # a rounded difference is off by u, squared by 2 u

        def at_most(away: Reals) -> Reals:
            return np.asarray(((most + n * away * away) * up + grown.lost) * (1 + 2.0**-45))

        def known(lo: Reals, hi: Reals) -> Reals:
            return at_most(np.maximum(np.abs(hi - middle), np.abs(lo - middle)) + wrong)

        lo = np.maximum((least + n * near * near) / up - grown.lost, 0.0) * (1 - 2.0**-45)
        hi = at_most(away)
        over = (hi >= sums.accumulator(N, name).max * (1 - 2.0**-20)) & ~odd
        nan = np.zeros(lo.shape, dtype=np.bool_)
    how = ("sum", x) if grown.is_cast else ("squares", mean, known)
    made = sums.opened(N, lo, hi, nan, over, sums.ORDER_DECIDES, *how)
    return _guarded(N, made, odd | np.asarray(~N.E.is_finite(mean.lo) | ~N.E.is_finite(mean.hi), dtype=np.bool_), name)


def _guarded(N: "Bands", a: Quantity, odd: Reals, name: str) -> Quantity:
    """R17: nothing is said of rows that hold an infinity or NaN; NaN for certain stays NaN."""
    made = sums.opened(N, a.lo, a.hi, a.nan, odd & ~np.asarray(a.lo == -INF, dtype=np.bool_), NO_NUMBER, *a.how)
    made.name = name
    return made


UNEVEN, LEVELS = 8.0, 2.0
"""Welford's means are joined from parts of which the one that is added is at most so many times the other's size, but
on so many levels, where it may be any."""


def _welford(N: "Bands", x: Quantity, names: tuple[str, str]) -> tuple[Quantity, Quantity]:
    """R12: running means joined pair by pair: their errors enter through sum w (e_A - e_B)^2, w = n_A n_B / n.

    With T the sum of it over all joins, the sum of squares S is off by at most 3.2 sqrt(S T) + T, beside its own
    roundings; T <= ((D + 1) H)^2 is derived in docs/formulas.md.
    """
    n = x.shape[-1]
    with np.errstate(all="ignore"):
        moments = _moments(N, x)
        middle, wrong, least, most, odd = moments.middle, moments.wrong, moments.least, moments.most, moments.odd
        claim = N.claim.for_sum(names[0])
        adds = float(claim.most(n)[0])
        held = HELD.get(claim.accumulate, N.f)  # nothing compensates a running mean
        u = held.u
        each, lost = adds * u * (1 + 4 * u), n * max(held.tiny, N.tiny)
        spread = moments.spread
        size = _root(N, n * (np.abs(middle) + wrong) * (np.abs(middle) + wrong) + most)
        steps = adds + 1
        joined = _root(N, most) * math.sqrt(steps * UNEVEN) + LEVELS * 2 * math.sqrt(n) * spread
        H = u * (1 + 2.0**-10 + 4 * steps * u) * (steps * size + 3 * joined) + math.sqrt(n) * steps * lost
        growth = N.E.grow(each + 6 * u * (1 + 8 * u))
        e = 3.2 * _root(N, most) * H + H * H
        lo = least / growth - e - 4 * lost  # Welford's own products may come out below zero
        hi = most * growth + e + 4 * lost
        off = H / math.sqrt(n) + wrong
        most_held = min(sums.accumulator(N, names[1]).max, N.f.max)
        # a join's off^2 n_A, before it is multiplied by n_B / n: at most 2 S n
        over = (2 * n * hi >= most_held * (1 - 2.0**-20)) | (np.abs(middle) + spread >= most_held / 2)
    mean = sums.opened(N, middle - off, middle + off, False, over & ~odd, sums.ORDER_DECIDES, "sum", x)
    mean = _guarded(N, mean, odd, names[0])
    squares = sums.opened(N, lo, hi, False, over & ~odd, sums.ORDER_DECIDES, "sum", x)
    if claim.accumulate == F64.name:
        mean, squares = (N.rounded(v.lo, v.hi, v.nan, "rounded", v) for v in (mean, squares))
    return mean, _guarded(N, squares, odd, names[1])


def _root(N: "Bands", a: Reals) -> Reals:
    a = np.asarray(a)
    return N.E.function("sqrt", a, a)[1]


# -- the weighted mean


def average(N: "Bands", e: Quantity, v: Quantity, names: tuple[str, str]) -> Quantity:
    """R11: sum_j e_j v_j / sum_j e_j with one e above and below, so its errors count times |v_j - o| and not |v_j|.

    With p the weights, r their errors, R = sum r: it drifts by at most
    min(sqrt(sum r^2 / p) sqrt(sum p (v - o)^2), sum r |v - o|) / (1 - R).
    Precondition: v is an input, and the e below is the e above. A kernel may divide first, and round p, or last (R8);
    e may be kept narrower in the product alone or in both sums (R9).
    """
    if not N.is_point(v) or (e.terms is not None and is_anew(N, e.terms.is_direct)):
        return _plain_average(N, e, v, names)
    n = e.shape[-1]
    narrow = e.how[2] if e.how[:1] == ("kept",) else None
    weights = e.how[1] if narrow else e
    name = e.name or "e"
    u_kept = narrow.u if narrow else 0.0
    del name
    odd_v = ~np.asarray(N.E.is_finite(v.lo) & ~np.asarray(v.nan), dtype=np.bool_).all(axis=-2, keepdims=True)
    with np.errstate(all="ignore"):
        odd_e = ~np.asarray(N.E.is_finite(weights.hi) & ~np.asarray(weights.nan), dtype=np.bool_).all(
            axis=-1, keepdims=True
        )
        must = np.asarray(weights.lo > weights.hi, dtype=np.bool_).any(axis=-1, keepdims=True)
        must = must | np.asarray((weights.hi <= 0).all(axis=-1, keepdims=True), dtype=np.bool_)
        lo, hi = (
            (np.where(odd_e, 0.0, end) for end in (weights.lo, weights.hi))
            if np.any(odd_e)
            else (weights.lo, weights.hi)
        )
        V = np.where(odd_v, 0.0, v.lo) if np.any(odd_v) else v.lo
        middle = (lo + hi) / 2
        s = middle.sum(axis=-1, keepdims=True)
        has_weight = np.asarray(s > 0, dtype=np.bool_)
        s = np.where(has_weight, s, 1.0)
        p, r = middle / s, np.maximum(hi - middle, middle - lo) / s * (1 + 2.0**-40)
        o, rad = _drift(N, p, r, V, n, names, e, u_kept, narrow)
        rad = np.where(has_weight, rad, INF)
        weigh, lifted = (p if N.form == "normalize first" else hi), e.terms.lift if e.terms is not None else 1.0
        over = (weigh @ np.abs(V)) * lifted >= sums.accumulator(N, names[0]).max * (1 - 2.0**-10)
    lo, hi = o - rad, o + rad
    nan = np.broadcast_to(~has_weight, lo.shape)
    lo, hi = np.where(must, INF, lo), np.where(must, -INF, hi)
    open_ = (odd_v | odd_e) & ~must
    made = sums.opened(N, lo, hi, nan | must, open_, NO_NUMBER, "average", e, v)
    made = sums.opened(N, made.lo, made.hi, made.nan, over & ~open_, sums.ORDER_DECIDES, "average", e, v)
    return N.relative(made.lo, made.hi, made.nan, _division(N), 2 * N.tiny, "average", e, v)


def _plain_average(N: "Bands", e: Quantity, v: Quantity, names: tuple[str, str]) -> Quantity:
    """Both ways to divide, by the plain rules: what is divided first is rounded weight by weight."""
    s = N.sum(e, names[1])
    last, first = N.div(N.matmul(e, v, names[0]), s), N.matmul(N.div(e, s), v, names[0])
    if N.form in ("divide last", "normalize first"):
        return last if N.form == "divide last" else first
    return N.value(np.minimum(last.lo, first.lo), np.maximum(last.hi, first.hi), last.nan | first.nan)


def _division(N: "Bands") -> float:
    return float(DIVIDE_ROUNDINGS[N.claim.divide])


def _drift(
    N: "Bands",
    p: Reals,
    r: Reals,
    V: Reals,
    n: int,
    names: tuple[str, str],
    e: Quantity,
    u_kept: float,
    narrow: Any,  # noqa: ANN401
) -> tuple[Reals, Reals]:
    """The middle of the mean and its radius, before the division."""
    centre = np.sort(V, axis=-2)[..., n // 2 : n // 2 + 1, :] if n else V.sum(axis=-2, keepdims=True)
    W = V - centre
    o = p @ W
    size_v = np.abs(V)
    rounding = float(N.E.eps) * (n + 8) or 2.0**-80
    spread = np.maximum(p @ (W * W) - o * o, 0.0) + rounding * (p @ (W * W))
    away = np.abs(W)
    above = sums.growth(N, names[0], n, 1, True)
    below = sums.growth(N, names[1], n, 0, True)
    k = _division(N) if N.form != "divide last" else 0.0
    cast = N.u * (1 + 2.0**-10)
    extra = (
        N.u * (1 + 2.0**-10) * e.terms.reach()
        if e.terms is not None and (N.claim.for_sum(names[0]).rescales != 0 or N.claim.for_sum(names[1]).rescales != 0)
        else None
    )

    def drifted(radius: Reals) -> Reals:
        whole = radius.sum(axis=-1, keepdims=True)
        left = 1 - whole
        ratio = np.where(
            np.asarray(p > 0, dtype=np.bool_),
            radius * radius / np.where(np.asarray(p > 0, dtype=np.bool_), p, 1.0),
            0.0,
        )
        lone = np.where(np.asarray(p > 0, dtype=np.bool_), 0.0, radius)
        cauchy = _root(N, ratio.sum(axis=-1, keepdims=True)) * _root(N, spread)
        cauchy = cauchy + lone @ away + lone.sum(axis=-1, keepdims=True) * np.abs(o)
        plain = radius @ away + whole * np.abs(o)
        return np.where(
            np.asarray(left > 0, dtype=np.bool_),
            np.minimum(cauchy, plain) / np.where(np.asarray(left > 0, dtype=np.bool_), left, 1.0),
            INF,
        )

    if extra is not None:  # the same exponents stand above and below in an online sum: part of e itself
        r = r + p * np.minimum(extra, 1.0) * (1 + 2.0**-10)
    drift = drifted(r)
    numerator = N.E.grow(above.most + k * N.u) - 1
    left = 1 - r.sum(axis=-1, keepdims=True)
    weigh = (p + r) @ size_v
    size = np.where(
        np.asarray(left > 0, dtype=np.bool_), weigh / np.where(np.asarray(left > 0, dtype=np.bool_), left, 1.0), INF
    )
    own = drift + (numerator + u_kept) * size
    if u_kept:
        own = np.maximum(own, drifted(r + u_kept * p) + numerator * size)
    grown = N.E.grow(below.most)
    total = own * grown + (grown - 1) * (np.abs(o + centre) + drift)
    casts = (above.is_cast + below.is_cast) * cast
    total = total + casts * (np.abs(o + centre) + total)
    lost = above.lost * (1 + np.abs(V).max(axis=-2, keepdims=True, initial=0.0)) + below.lost * np.abs(o + centre)
    if narrow is not None:
        lost = lost + narrow.tiny * (e.terms.lift if e.terms is not None else 1.0) * size_v.sum(axis=-2, keepdims=True)
    if sums.is_mma(N, names[0]):  # R14: denormal factors, of weights at any scale that is no smaller
        lift, as_counted = e.terms.lift if e.terms is not None else 1.0, sums.counted(N, size_v)
        weighs = sums.count(~np.asarray(p + r == 0, dtype=np.bool_))
        cut = N.least * lift * (weighs @ as_counted) + (p + r) @ (as_counted - size_v)
        lost = lost + (N.E.grow(above.most) - 1) * cut
    scale = e.terms.lift * e.terms.lift if e.terms is not None else 1.0
    total = total + lost * scale * 4 + rounding * (p @ size_v + np.abs(centre)) * 4
    return o + centre, total * (1 + 2.0**-30)


__all__ = ["FORMATS", "Terms", "average", "exponential", "mean_var", "shift"]
