"""The steps of a tape over intervals: from a result to its operands, and from operands to their result."""

from typing import Any

import numpy as np

from kfuzz.oracle.bounds.joint.boxes import INF, Boxes
from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.room import ROUNDINGS_16, ROUNDINGS_4096
from kfuzz.oracle.systems.rules.moments import divide_by_count
from kfuzz.oracle.systems.value import Quantity

OF_ROWS = ("squares", "divided by n", "rsqrt", "sqrt")
"""Steps by which one shared value follows from another: they are walked forwards only."""
ONWARD = ("add", "sub", *OF_ROWS)


def room_of(band: Bands, value: Quantity) -> tuple[float, Any]:
    """How far a step's exact result may lie from the stored one: relative to the latter, and absolutely."""
    kind, form, k = value.how[0], _format_of(band, value), _roundings_of(value)
    g = relative_room(band, value)
    if kind == "mul":  # in another order a part of it may underflow, and what that loses is multiplied by the rest
        return g, max(k, 1.0) * band.tiny * ROUNDINGS_16 * value.slack
    lost = 0.0 if kind in ("add", "sub") else max(k, 1.0) * form.tiny * ROUNDINGS_16
    return g, lost + form.min_normal if band.ftz else lost


def relative_room(band: Bands, value: Quantity) -> float:
    """The relative part of it alone."""
    form, k = _format_of(band, value), _roundings_of(value)
    return k * form.u * (1 + (k + 2) * form.u)


def _format_of(band: Bands, value: Quantity) -> Element:
    return value.how[2] if value.how[0] == "stored" else band.f


def _roundings_of(value: Quantity) -> float:
    counted = value.how[3] if value.how[0] in ("mul", "div") and len(value.how) > 3 else 1.0
    return float(max(counted, 0.0))


def before_rounding(band: Bands, value: Quantity, lo: Reals, hi: Reals) -> Pair:
    """The exact results of a step that can have been rounded to [lo, hi]."""
    g, lost = room_of(band, value)
    has_room = g > 2.0**16 * float(band.E.eps)  # a few roundings of these ends are far below the room added here
    lost = lost * ROUNDINGS_4096
    if has_room:
        g = g * ROUNDINGS_4096
    below, above = np.asarray(np.abs(lo)), np.asarray(np.abs(hi))
    below *= g
    above *= g
    below += lost
    above += lost
    np.subtract(lo, below, out=below)
    np.add(hi, above, out=above)
    lo, hi = below, above
    exact = value.how[1] if value.how[0] == "stored" else value  # a small negative number is stored as a zero
    if np.min(exact.lo) >= 0:  # no step changes the sign of what it rounds
        lo = np.maximum(lo, 0.0)
    return (lo, hi) if has_room else band.E.push_outward(lo, hi)


def step_backward(band: Bands, boxes: Boxes, value: Quantity) -> None:
    """Narrow a step's operands by its result."""
    kind, a = value.how[0], value.how[1]
    if kind == "stored":
        if boxes.has_news("first", value, value):
            boxes.narrow(a, *before_rounding(band, value, *boxes.set_of(value)))
        return
    b = value.how[2]
    before: Pair | None = None
    if boxes.is_useful(a) and boxes.has_news("first", value, value, b):
        before = before_rounding(band, value, *boxes.set_of(value))
        boxes.narrow(a, *_first_operand(band, kind, *before, *boxes.set_of(b)))
    if boxes.is_useful(b) and boxes.has_news("second", value, value, a):
        before = before or before_rounding(band, value, *boxes.set_of(value))
        boxes.narrow(b, *_second_operand(band, kind, *before, *boxes.set_of(a)))


def _first_operand(band: Bands, kind: str, lo: Reals, hi: Reals, bl: Reals, bh: Reals) -> Pair:
    """a, of a + b, a - b, a b or a / b in [lo, hi] with b in [bl, bh]."""
    match kind:
        case "add":
            return band.E.push_outward(lo - bh, hi - bl)
        case "sub":
            return band.E.push_outward(lo + bl, hi + bh)
        case "mul":
            return quotient(band, lo, hi, bl, bh)
        case _:
            return product(band, lo, hi, bl, bh)


def _second_operand(band: Bands, kind: str, lo: Reals, hi: Reals, al: Reals, ah: Reals) -> Pair:
    """b, with a in [al, ah]."""
    match kind:
        case "add":
            return band.E.push_outward(lo - ah, hi - al)
        case "sub":
            return band.E.push_outward(al - hi, ah - lo)
        case "mul":
            return quotient(band, lo, hi, al, ah)
        case _:
            return quotient(band, al, ah, lo, hi)


def step_forward(band: Bands, boxes: Boxes, value: Quantity) -> None:
    """Narrow a step's result by its operands."""
    operands = [operand for operand in value.how[1:3] if isinstance(operand, Quantity)]
    if boxes.has_news("forward", value, *operands):
        boxes.narrow(value, *result_of(band, value, *(boxes.set_of(operand) for operand in operands)))


def result_of(band: Bands, value: Quantity, *operands: Pair) -> Pair:
    """A step's result for operands in these sets."""
    held = [Quantity(band, *pair, np.zeros((), dtype=np.bool_)) for pair in operands]
    match value.how[0]:
        case "add":
            made = band.add(*held)
        case "sub":
            made = band.sub(*held)
        case "squares":
            open_ = np.asarray(value.hi == INF, dtype=np.bool_)
            return value.lo, np.where(open_, INF, value.how[2](held[0].lo, held[0].hi))
        case "divided by n":
            made = divide_by_count(band, held[0], value.how[2])
        case "rsqrt":
            made = band.rsqrt(held[0])
        case _:
            made = band.sqrt(held[0])
    return made.lo, made.hi


def product(band: Bands, al: Reals, ah: Reals, bl: Reals, bh: Reals) -> Pair:
    ends = [al * bl, al * bh, ah * bl, ah * bh]
    return _outer(band, ends)


def quotient(band: Bands, al: Reals, ah: Reals, bl: Reals, bh: Reals) -> Pair:
    """a / b; everything where b contains zero."""
    if np.min(bl) > 0:
        if np.min(al) >= 0:
            return band.E.push_outward(al / bh, ah / bl)
        if bl is bh:
            lo, hi = al / bl, ah / bl
        elif np.max(bh) < INF:  # dividing twice is faster than choosing by the sign
            lo, hi = np.minimum(al / bl, al / bh), np.maximum(ah / bl, ah / bh)
        else:
            lo, hi = al / np.where(al < 0, bl, bh), ah / np.where(ah < 0, bh, bl)
        if not (any_of(band.E.is_nan(lo)) or any_of(band.E.is_nan(hi))):
            return band.E.push_outward(lo, hi)
    if bl is bh and all_of(bl != 0):
        lo, hi = al / bl, ah / bl
        is_turned = bl < 0  # a known negative divisor swaps the ends
        if not (any_of(band.E.is_nan(lo)) or any_of(band.E.is_nan(hi))):
            return band.E.push_outward(np.where(is_turned, hi, lo), np.where(is_turned, lo, hi))
        return _outer(band, [lo, hi])
    zero = np.asarray((bl <= 0) & (bh >= 0), dtype=np.bool_)
    if not any_of(zero):
        return _outer(band, [al / bl, al / bh, ah / bl, ah / bh])
    bl, bh = np.where(zero, 1.0, bl), np.where(zero, 1.0, bh)
    lo, hi = _outer(band, [al / bl, al / bh, ah / bl, ah / bh])
    return np.where(zero, -INF, lo), np.where(zero, INF, hi)


def _outer(band: Bands, ends: list[Any]) -> Pair:
    lo = hi = ends[0]
    for end in ends[1:]:
        lo, hi = np.minimum(lo, end), np.maximum(hi, end)
    if band.E.eps and not any_of(np.isnan(lo)):  # for floats, the minimum is NaN if any operand is
        return band.E.push_outward(lo, hi)
    unknown = np.asarray(np.any([band.E.is_nan(np.broadcast_to(end, lo.shape)) for end in ends], axis=0))
    lo, hi = band.E.push_outward(np.where(unknown, -INF, lo), np.where(unknown, INF, hi))
    return lo, hi
