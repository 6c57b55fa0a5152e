"""Exponentials, of a difference from a shift or of any other value: rule R4 of docs/formulas.md."""

import math
from functools import partial
from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import F64, Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems import base_two
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import OPERATIONS_4, ROUNDINGS_16, ROUNDINGS_4096, ROUNDINGS_16384
from kfuzz.oracle.systems.rules.shift import Terms
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def exponential(N: BandSystem, a: Quantity) -> Quantity:
    """R4: exp^(t) = e^t (1 +- (a0 + kappa |t|) u) +- eta, exact at 0 and -inf; it grows no more beyond `far`."""
    if a.below is None:
        return N.value(*_exp(N, a.lo, a.hi, a.lo, a.hi, 0.0, 1.0), a.nan, "exp", a)
    x, top = a.below
    claim = N.claim
    is_direct = N.is_point(x) and not any_of(top.how[2])
    known_top = np.asarray(top.lo, dtype=np.float64)
    known_top = np.where(np.isfinite(known_top), known_top, 0.0)
    slop = top.how[2] + claim.shift_slack
    if is_direct and claim.exp.base_two:
        slop = slop + base_two.stray(known_top, claim)
    exact = is_direct and not any_of(slop) and not claim.exp.base_two
    raised: Any
    with np.errstate(all="ignore"):
        if claim.shift == "zero":
            lo, hi = N.E.push_outward(x.lo - top.lo, x.hi - top.lo)
            raised = N.E.exp_above(np.asarray(np.minimum(-known_top, 1e4)))
            size = np.minimum(np.maximum(np.abs(x.lo), np.abs(x.hi)), far(N))
            if claim.exp.base_two:
                g = (1 + base_two.LOG2_E) * N.u * ROUNDINGS_4096 * size
                lo, hi = lo - g, hi + g
            parts = _exp(N, lo, hi, x.lo, x.hi, 0.0, raised, can_be_one=not claim.exp.base_two)
            reach = partial(np.asarray, size)
        elif exact and claim.exact_shift:
            lo, hi = N.E.round_ends(*N.E.two_sum(x.lo, -top.lo), N.f) if N.is_point(x) else (a.lo, a.hi)
            parts = _exp(N, lo, hi, lo, hi, 0.0, 1.0)
            reach, raised = partial(np.zeros, ()), 1.0
        else:
            lo, hi = a.lo, a.hi
            if not exact:
                lo, hi = N.E.push_outward(x.lo - top.lo, x.hi - top.lo)
                size = np.maximum(np.abs(lo), np.abs(hi))
                g = _place(size, slop, far(N)) * N.u * ROUNDINGS_16
                if is_direct and claim.exp.base_two:
                    size = np.minimum(np.where(N.E.is_finite(size), size, far(N)), far(N)) + slop
                    own = base_two.product_rounding(known_top, np.asarray(x.lo, dtype=np.float64), claim)
                    g = ((1 + base_two.LOG2_E) * size + own) * N.u * ROUNDINGS_4096
                elif not is_direct:
                    g, slop = g + _folded_shift_error(N, x, top), slop + N.u * 2 * _largest(x, top)
                lo, hi = lo - g, hi + g
            if is_recomputed(N, is_direct):
                lo, hi = lo - slop, hi + slop
            raised = N.E.exp_above(np.minimum(slop, 1e4)) if not exact else 1.0
            parts = _exp(N, lo, hi, lo, hi, slop, raised, can_be_one=exact)
            reach = partial(_reach, N, lo, hi, slop)
        lo, hi = parts
    made = N.value(*_open_below_nan(a, top, lo, hi), "exp", a)
    plain = np.asarray(np.abs(top.lo) < INF, dtype=np.bool_) & ~np.asarray(top.nan)
    made.terms = Terms(x, reach, slop, raised, is_direct, plain, top)
    return made


def _reach(N: BandSystem, lo: Reals, hi: Reals, slop: Reals | float) -> Reals:
    size = np.maximum(np.abs(lo), np.abs(hi))
    return np.asarray(np.minimum(np.where(N.E.is_finite(size), size, far(N)), far(N)) + 2 * slop)


def is_recomputed(N: BandSystem, is_direct: bool) -> bool:
    """Whether the denominator may use scores, and a shift, that were computed again and rounded differently.

    A computed score need not be the same number if a compiler computes it twice, as Triton does for each layout.
    """
    return N.claim.denominator == "element" and not is_direct


def _open_below_nan(a: Quantity, top: Quantity, lo: Reals, hi: Reals) -> tuple[Reals, Reals, Reals]:
    """Make the set NaN alone where all exponents are -inf, and open it where the shift may be NaN.

    A score may be NaN where the order of its sum decides. The row is certainly NaN only if the score is.
    """
    must = (a.lo > a.hi) | np.asarray((top.lo == -INF) & (top.hi == -INF), dtype=np.bool_)
    nan = a.nan | must
    if lo.shape != must.shape or any_of(must):
        lo, hi = np.where(must, INF, lo), np.where(must, -INF, hi)
    if any_of(top.nan):
        unknown = np.broadcast_to(top.nan, must.shape) & ~must
        lo, hi, nan = np.where(unknown, 0.0, lo), np.where(unknown, INF, hi), nan | unknown
    return lo, hi, nan


def _largest(x: Quantity, top: Quantity) -> Reals:
    """The largest size of a finite exponent of each row."""
    size = np.asarray(np.maximum(np.abs(x.lo), np.abs(x.hi)), dtype=np.float64)
    return np.asarray(np.where(np.isfinite(size), size, 0.0).max(axis=top.how[3], keepdims=True, initial=0.0))


def _folded_shift_error(N: BandSystem, x: Quantity, top: Quantity) -> Reals | float:
    """The error that exp2(x c - fl(m c)) adds if a shift is folded into the scale: u |m| whenever m changes."""
    if N.claim.shift != "any":
        return 0.0
    times = N.claim.most_rescales(x.shape[-1])
    return np.asarray(_largest(x, top) * N.u * ROUNDINGS_16384 * (2 * times + 1 + 2 * base_two.LOG2_E))


def far(N: BandSystem) -> float:
    """The distance beyond which e^-t is below half of the least number."""
    return -math.log(N.f.tiny) + 0.03


def _place(reach: Reals, slop: Reals | float, most: float) -> Reals:
    """The rounding, in u, of the difference of a term and a shift `slop` off: the power of two at or below it."""
    size = np.asarray(reach + slop, dtype=np.float64)
    size = np.where(np.isfinite(size), size, most) * OPERATIONS_4
    mantissa, power = np.frexp(size)
    return np.where(mantissa > 0, np.ldexp(1.0, power - 1), 0.0)


def _exp(
    N: BandSystem,
    lo: Reals,
    hi: Reals,
    argument_lo: Reals,
    argument_hi: Reals,
    slop: Reals | float,
    raised: Reals | float,
    can_be_one: bool = True,
) -> tuple[Reals, Reals]:
    """The set of exp^ over [lo, hi]; the arguments are the numbers that exp itself receives."""
    model, most = N.claim.exp, far(N)
    eta = N.f.min_normal * ROUNDINGS_16384 if N.ftz else (model.a0 + most * model.kappa) * N.f.tiny
    is_nothing = np.asarray(hi == -INF, dtype=np.bool_)
    hi_held = np.maximum(hi, -most + slop)
    if any_of(is_nothing):
        hi_held = np.where(is_nothing, hi, hi_held)
    if hi is lo and N.E.eps and hi_held.shape == lo.shape and all_of(hi_held == lo):
        hi_held = lo  # so that exp is computed once
    below, above = N.E.function("exp", lo, hi_held)
    is_known = argument_lo is argument_hi
    size = np.zeros(())
    if model.kappa:
        size = np.abs(argument_lo)
        size = (size if is_known else np.maximum(size, np.abs(argument_hi))) + slop
    size = size if all_of(is_finite := N.E.is_finite(size)) else np.where(is_finite, size, most)
    size = np.minimum(size, np.maximum(most, _longest(N)))
    g = (model.a0 + model.kappa * size) * N.u * ROUNDINGS_4096
    zero: Reals | bool = False
    if can_be_one:
        zero = np.asarray(argument_lo == 0, dtype=np.bool_)
        zero = zero if is_known else zero & np.asarray(argument_hi == 0, dtype=np.bool_)
    below, above = np.maximum(below * (1 - g) - eta * raised, 0.0), above * (1 + g) + eta * raised
    is_far = lo < -most - slop
    is_far = is_far if argument_lo is lo else is_far | (argument_lo < -most - slop)
    below = _put(0.0, is_far, below)
    above = _put(0.0, is_nothing, above)
    if any_of(zero):  # few are: 1, or e^-shift where nothing is subtracted
        at = np.broadcast_to(zero, below.shape)
        below[at], above[at] = N.E.function("exp", *(np.broadcast_to(end, at.shape)[at] for end in (lo, hi)))
    above = _put(INF, above > N.f.max, above)
    below = _put(N.f.max, below > N.f.max, below)
    empty = np.asarray(lo > hi, dtype=np.bool_)
    return _put(INF, empty, below), _put(-INF, empty, above)


def _put(value: float, where: Reals, other: Reals) -> Reals:
    """Put a value in some places."""
    return np.where(where, value, other) if any_of(where) else np.asarray(other)


def _longest(N: BandSystem) -> float:
    return math.log(N.f.max) if N.f is not F64 else 710.0
