"""The scale of each group, made from its largest magnitude: rules N3, N5, N6 and N8 of docs/formulas.md."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import QUOTIENT_ROUNDINGS
from kfuzz.oracle.numbers.elements import F32, F64, Element, Reals
from kfuzz.oracle.numbers.grid import grid_of
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.rules.selection import greater_of
from kfuzz.oracle.systems.value import Operand, Quantity

INF = np.inf


def scale_roundings(N: BandSystem) -> int:
    """N3: amax / max, amax * (1 / max), or 1 / (max / amax): two operations, of which a quotient may be a fast one."""
    return 2 * QUOTIENT_ROUNDINGS[N.claim.divide]


def scale_of_groups(
    N: BandSystem, amax: Quantity, onto: str, name: str, least: Operand = 0.0, least_scale: Operand = 0.0
) -> Quantity:
    """The set of each group's scale, by the claimed form, to the largest number of the output `onto`.

    `name`: the output to which the scale is written. `least`: amax counts as no less; `least_scale`: nor the scale.
    Of an amax below 0, the product with a negative number, nothing is known.
    """
    stored = N.formats.get(name, N.f)
    grid = grid_of(N.element_of(onto), N.claim.quantize.symmetric)
    known = np.asarray(amax.lo <= amax.hi, dtype=np.bool_) & np.asarray(amax.hi < INF, dtype=np.bool_)
    negative = known & np.asarray(amax.lo < 0, dtype=np.bool_)
    known &= ~negative
    size = N.value(np.where(known, amax.lo, 1.0), np.where(known, amax.hi, 1.0)) if not all_of(known) else amax
    is_zero = np.asarray(size.hi == 0, dtype=np.bool_)
    floored = greater_of(N, size, N.number(least))
    made = _by_form(N, floored, grid.largest, stored)
    made = greater_of(N, made, N.number(least_scale))
    lo, hi = (np.broadcast_to(end, amax.shape) for end in (made.lo, made.hi))
    if any_of(is_zero):
        lo, hi = _of_zeros(N, is_zero, lo, hi, stored)
    if not all_of(known):
        lo, hi = np.where(known, lo, amax.lo), np.where(known, hi, amax.hi)
    if any_of(negative):
        N.note(Reason(Why.NEGATIVE_AMAX), negative)
        lo, hi = np.where(negative, -INF, lo), np.where(negative, INF, hi)
    value = N.value(lo, hi, amax.nan | negative, "scaled", amax, grid.largest)
    value.name = name
    return value


def _by_form(N: BandSystem, amax: Quantity, largest: float, stored: Element) -> Quantity:
    form = N.claim.quantize.scale
    if form is None and stored.kind == "power":
        parts = [_power(N, amax, largest, stored, up) for up in (False, True)]
        return N.value(np.minimum(parts[0].lo, parts[1].lo), np.maximum(parts[0].hi, parts[1].hi))
    if form in ("power of two up", "exponent of amax"):
        return _power(N, amax, largest, stored, form == "power of two up")
    return _quotient(N, amax, largest)


def _quotient(N: BandSystem, amax: Quantity, largest: float) -> Quantity:
    """N3: amax / max with its roundings."""
    with np.errstate(all="ignore"):
        m = N.E.convert(np.asarray(largest))
        lo, hi = N.E.push_outward(amax.lo / m, amax.hi / m)
    k = scale_roundings(N)
    return N.widen(lo, hi, False, k, k * N.tiny, "scale", amax)


def _power(N: BandSystem, amax: Quantity, largest: float, stored: Element, up: bool) -> Quantity:
    """N5, N6: a power of two. The exponent of amax is exact; upwards, the quotient's set may reach beyond a power."""
    source = _quotient(N, amax, largest) if up else amax
    lo, hi = (np.asarray(end, dtype=np.float64) for end in N.E.round_ends(source.lo, source.hi, F64))
    if up and N.claim.quantize.log is not None:
        lo, hi = _widen_by_log(N, lo, hi)
    exponent_of: Callable[[Reals], Any] = _exponent_up if up else _exponent_down
    shift = 0 if up else math.frexp(largest)[1] - 1
    ends = []
    for end in (lo, hi):
        exponent = exponent_of(end) - shift
        floor = stored.least if stored.kind == "power" else F32.least - F32.p + 1
        ends.append(np.ldexp(1.0, np.clip(exponent, floor, 127)))
    lo, hi = ends
    if stored.kind != "power":  # bits that are cut or carried make 0 or the least normal number of a denormal
        low = lo < F32.min_normal
        lo, hi = np.where(low, 0.0, lo), np.where(hi < F32.min_normal, F32.min_normal, hi)
    return N.value(N.E.convert(lo), N.E.convert(hi))


def _widen_by_log(N: BandSystem, lo: Reals, hi: Reals) -> Pair:
    """N5: an error of a u of log2 s is one of a u log(2) abs(log2 s) of s; and s may be 0."""
    model = N.claim.function("log")
    with np.errstate(all="ignore"):
        parts = []
        for end, sign in ((lo, -1.0), (hi, 1.0)):
            g = (model.a0 + 1) * N.u * math.log(2) * (np.abs(np.log2(np.maximum(end, N.f.tiny))) + 1)
            parts.append(end * (1 + sign * g * (1 + g)))
    return parts[0], parts[1]


def _exponent_up(x: Reals) -> Any:  # noqa: ANN401  integers
    """The least e with 2^e >= x."""
    fraction, exponent = np.frexp(np.maximum(x, F64.min_normal))
    return exponent - (fraction == 0.5)


def _exponent_down(x: Reals) -> Any:  # noqa: ANN401  integers
    """The largest e with 2^e <= x."""
    return np.frexp(np.maximum(x, F64.min_normal))[1] - 1


def _of_zeros(N: BandSystem, is_zero: Reals, lo: Reals, hi: Reals, stored: Element) -> Pair:
    """N8: the scale of a group of zeros, as claimed; never NaN."""
    least = 2.0**stored.least
    ends: Any = {"one": (1.0, 1.0), "zero": (0.0, 0.0), "least": (least, least), None: (0.0, stored.max)}
    word = N.claim.quantize.zeros
    if word == "eps":
        return lo, hi
    below, above = (N.E.convert(np.asarray(end)) for end in ends[word])
    return np.where(is_zero, below, lo), np.where(is_zero, above, hi)
