"""The joint test: whether one stored value can serve all elements of a row that share it.

A formula's tape is walked backwards from the answer: every step is inverted over intervals, and at a value that is
broadcast (a sum, a mean) what its users say is intersected; then forwards again (HC4). An empty intersection: no stored
value fits. It runs over any ends, floats to find a clash and balls to certify it. Knows no op.
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.small_arrays import common, every, some, stretched
from kfuzz.oracle.systems import derived
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.formats import Reals
from kfuzz.oracle.systems.value import Quantity

INF = np.inf
STEPS = ("add", "sub", "mul", "div", "stored")
OF_ROWS = ("squares", "divided by n", "rsqrt", "sqrt")
"""Steps by which one shared value follows from another: they are walked forwards alone."""
ROUNDS = 2
SLACK = 2.0**-44
"""Relative room beside float64's own errors, before balls are asked."""


@dataclass(frozen=True)
class Contradiction:
    """One row's clash: the shared value's name, the two elements furthest apart, and which differ from the middle."""

    name: str
    high: int
    low: int
    worst: int
    wrong: NDArray[np.bool_]
    excess: float

    def message(self, row: tuple[int, ...]) -> str:
        """In words."""
        where = row[0] if len(row) == 1 else f"[{', '.join(map(str, row))}]"
        return f"elements {self.high} and {self.low} of row {where} cannot have come of the same {self.name!r}"


def contract(
    band: Bands, out: Quantity, got: Reals, shared: tuple[str, ...] | None
) -> dict[tuple[int, ...], Contradiction]:
    """The rows of `got` that no shared values fit; empty where all do."""
    if not got.size:
        return {}
    tape = tape_of(out)
    boxes = Boxes(band, tape, out.shape, shared)
    known = np.asarray(np.isfinite(np.asarray(got, dtype=np.float64)) & np.asarray(out.lo <= out.hi, dtype=np.bool_))
    number = band.E.of(got)
    boxes.narrow(out, np.where(known, number, -INF), np.where(known, number, INF))
    useful = [value for value in tape if value.how[:1] and boxes.is_useful(value)]
    steps = [value for value in useful if value.how[0] in STEPS]
    onward = [value for value in useful if value.how[0] in ("add", "sub", *OF_ROWS)]
    with np.errstate(all="ignore"):
        for _ in range(ROUNDS if boxes.unknowns(steps) > 1 else 1):
            for value in reversed(steps):
                _backward(band, boxes, value)
            for value in onward:
                _forward(band, boxes, value)
    return boxes.found


def tape_of(out: Quantity) -> list[Quantity]:
    """The steps that an answer is made of, in the order in which they were made."""
    found: dict[int, Quantity] = {}
    waiting = [out]
    while waiting:
        value = waiting.pop()
        if id(value) not in found:
            found[id(value)] = value
            waiting += [operand for operand in value.how if isinstance(operand, Quantity)]
    return sorted((value for value in found.values() if value.number), key=lambda value: value.number)


class Boxes:
    """What is known of every value on the tape beside its own set."""

    def __init__(
        self, band: Bands, tape: list[Quantity], shape: tuple[int, ...], shared: tuple[str, ...] | None
    ) -> None:
        self.band, self.shape, self.shared = band, shape, shared
        self.held: dict[int, Pair] = {id(value): (value.lo, value.hi) for value in tape}
        self.found: dict[tuple[int, ...], Contradiction] = {}
        self.useful: dict[int, bool] = {}
        self.times: Counter[int] = Counter()
        self.seen: dict[tuple[str, int], tuple[int, ...]] = {}

    def is_useful(self, value: Quantity) -> bool:
        """Whether the walk back from a value comes to one that a row shares: nothing else can contradict itself."""
        if id(value) not in self.useful:
            steps = value.how[1:3] if value.how[:1] and value.how[0] in STEPS else ()
            below = [self.is_useful(operand) for operand in steps if isinstance(operand, Quantity)]
            self.useful[id(value)] = any(below) or self.is_unknown(value)
        return self.useful[id(value)]

    def is_unknown(self, value: Quantity) -> bool:
        """Whether it is one value to many elements, and not exactly known."""
        return not value.is_point and value.lo.size < math.prod(self.shape) and id(value) in self.held

    def unknowns(self, steps: list[Quantity]) -> int:
        operands = {id(v): v for step in steps for v in step.how[1:3] if isinstance(v, Quantity)}
        return sum(self.is_unknown(value) for value in operands.values())

    def of(self, value: Quantity) -> Pair:
        return self.held.get(id(value), (value.lo, value.hi))

    def is_news(self, what: str, step: Quantity, *told: Quantity) -> bool:
        """Whether a step may say more than it said last time: whether what it goes by has been narrowed since."""
        now = tuple(self.times[id(value)] for value in told)
        is_same = self.seen.get((what, id(step))) == now
        self.seen[what, id(step)] = now
        return not is_same

    def _keep(self, value: Quantity, lo: Reals, hi: Reals) -> None:
        held_lo, held_hi = self.held[id(value)]
        if some(lo != held_lo) or some(hi != held_hi):
            self.times[id(value)] += 1
            self.held[id(value)] = (np.asarray(lo), np.asarray(hi))

    def narrow(self, value: Quantity, lo: Reals, hi: Reals) -> None:
        """Intersect; over the axes along which the value is broadcast all must hold at once."""
        if id(value) not in self.held or value.is_point or not self.is_useful(value):
            return
        E = self.band.E
        if some(E.is_nan(lo)) or some(E.is_nan(hi)):
            lo, hi = np.where(E.is_nan(lo), -INF, lo), np.where(E.is_nan(hi), INF, hi)
        held_lo, held_hi = self.held[id(value)]
        own = common(held_lo.shape, held_hi.shape)
        wide = common(lo.shape, hi.shape)
        axes = _broadcast_axes(own, wide)
        if axes and not self._is_shared(value):
            return
        least, most = stretched(lo, wide), stretched(hi, wide)
        if axes:
            least, most = (
                np.maximum.reduce(least, axis=axes, keepdims=True),
                np.minimum.reduce(most, axis=axes, keepdims=True),
            )
            least, most = least.reshape(own), most.reshape(own)
        new_lo, new_hi = np.maximum(held_lo, least), np.minimum(held_hi, most)
        crossed = np.asarray(new_lo > new_hi, dtype=np.bool_)
        if not some(crossed):
            self._keep(value, new_lo, new_hi)
            return
        bad = crossed & self._contradicts(new_lo, new_hi)
        if some(bad):
            self._tell(value, bad, stretched(lo, wide), stretched(hi, wide))
            new_lo, new_hi = np.where(bad, held_lo, new_lo), np.where(bad, held_hi, new_hi)
        self._keep(value, new_lo, np.maximum(new_lo, new_hi))

    def _is_shared(self, value: Quantity) -> bool:
        return self.shared is None or value.name in self.shared

    def _contradicts(self, lo: Reals, hi: Reals) -> NDArray[np.bool_]:
        E = self.band.E
        with np.errstate(all="ignore"):
            room = (np.abs(lo) + np.abs(hi)) * SLACK if E.eps else 0.0
        return np.asarray((lo > hi + room) & E.is_finite(lo) & E.is_finite(hi), dtype=np.bool_)

    def _tell(self, value: Quantity, bad: NDArray[np.bool_], lo: Reals, hi: Reals) -> None:
        """Note the rows that clash here, and who says what in each."""
        lead = self.shape[:-1]
        if bad.ndim != len(self.shape) or lo.shape != self.shape:
            return
        for place in np.argwhere(np.broadcast_to(bad.any(axis=-1), lead)):
            row = tuple(int(i) for i in place)
            if row in self.found:
                continue
            above, below = (np.asarray(end[row], dtype=np.float64) for end in (lo, hi))
            self.found[row] = _contradiction(value.name or value.how[0], above, below)


def _contradiction(name: str, lo: Reals, hi: Reals) -> Contradiction:
    """What most elements agree on is the median of what each alone would say."""
    high, low = int(np.nanargmax(lo)), int(np.nanargmin(hi))
    known = np.isfinite(lo) & np.isfinite(hi)
    agreed = float(np.median((lo[known] + hi[known]) / 2)) if some(known) else float(lo[high])
    wrong = (lo > agreed) | (hi < agreed)
    far_high, far_low = lo[high] - agreed, agreed - hi[low]
    excess = float((lo[high] - hi[low]) / max(abs(agreed), 1e-300))
    return Contradiction(name, high, low, high if far_high >= far_low else low, wrong, excess)


def _broadcast_axes(own: tuple[int, ...], wide: tuple[int, ...]) -> tuple[int, ...]:
    padded = (1,) * (len(wide) - len(own)) + own
    return tuple(axis for axis, (a, b) in enumerate(zip(padded, wide, strict=True)) if a == 1 and b != 1) + tuple(
        axis for axis in range(len(wide) - len(own)) if wide[axis] == 1
    )


def _before_rounding(band: Bands, value: Quantity, lo: Reals, hi: Reals) -> Pair:
    """What a step's exact result may have been, given what it was rounded to."""
    kind = value.how[0]
    form = value.how[2] if kind == "stored" else band.f
    k = {"add": 1.0, "sub": 1.0, "stored": 1.0}.get(kind) or float(
        max(value.how[3] if len(value.how) > 3 else 1.0, 0.0)
    )
    g = k * form.u * (1 + (k + 2) * form.u)
    lost = max(k, 1.0) * form.tiny * (0.0 if kind in ("add", "sub") else 1.0) * (1 + 2.0**-20)
    if kind == "mul":
        lost = lost * value.slack
    if band.ftz:
        lost = lost + form.min_normal
    has_room = g > 2.0**16 * float(band.E.eps)  # a few roundings of these ends are far below what is added anyway
    if has_room:
        g, lost = g * (1 + 2.0**-12), lost * (1 + 2.0**-12)
    below, above = np.asarray(np.abs(lo)), np.asarray(np.abs(hi))
    below *= g
    above *= g
    below += lost
    above += lost
    np.subtract(lo, below, out=below)
    np.add(hi, above, out=above)
    lo, hi = below, above
    if np.min(value.lo) >= 0:  # no step changes the sign of what it rounds
        lo = np.maximum(lo, 0.0)
    return (lo, hi) if has_room else band.E.outward(lo, hi)


def _backward(band: Bands, boxes: Boxes, value: Quantity) -> None:
    """What a step's result says of its operands."""
    kind, a = value.how[0], value.how[1]
    if kind == "stored":
        if boxes.is_news("first", value, value):
            boxes.narrow(a, *_before_rounding(band, value, *boxes.of(value)))
        return
    b = value.how[2]
    before: Pair | None = None
    if boxes.is_useful(a) and boxes.is_news("first", value, value, b):
        before = _before_rounding(band, value, *boxes.of(value))
        boxes.narrow(a, *_first(band, kind, *before, *boxes.of(b)))
    if boxes.is_useful(b) and boxes.is_news("second", value, value, a):
        before = before or _before_rounding(band, value, *boxes.of(value))
        boxes.narrow(b, *_second(band, kind, *before, *boxes.of(a)))


def _first(band: Bands, kind: str, lo: Reals, hi: Reals, bl: Reals, bh: Reals) -> Pair:
    """a, of a + b, a - b, a b or a / b in [lo, hi] with b in [bl, bh]."""
    match kind:
        case "add":
            return band.E.outward(lo - bh, hi - bl)
        case "sub":
            return band.E.outward(lo + bl, hi + bh)
        case "mul":
            return _quotient(band, lo, hi, bl, bh)
        case _:
            return _product(band, lo, hi, bl, bh)


def _second(band: Bands, kind: str, lo: Reals, hi: Reals, al: Reals, ah: Reals) -> Pair:
    """b, with a in [al, ah]."""
    match kind:
        case "add":
            return band.E.outward(lo - ah, hi - al)
        case "sub":
            return band.E.outward(al - hi, ah - lo)
        case "mul":
            return _quotient(band, lo, hi, al, ah)
        case _:
            return _quotient(band, al, ah, lo, hi)


def _forward(band: Bands, boxes: Boxes, value: Quantity) -> None:
    kind, operands = value.how[0], [operand for operand in value.how[1:3] if isinstance(operand, Quantity)]
    if not boxes.is_news("forward", value, *operands):
        return
    held = [Quantity(band, *boxes.of(operand), np.zeros((), dtype=np.bool_)) for operand in operands]
    match kind:
        case "add":
            made = band.add(*held)
        case "sub":
            made = band.sub(*held)
        case "squares":
            open_ = np.asarray(value.hi == INF, dtype=np.bool_)
            boxes.narrow(value, value.lo, np.where(open_, INF, value.how[2](held[0].lo, held[0].hi)))
            return
        case "divided by n":
            made = derived.scaled(band, held[0], value.how[2])
        case _:
            made = band.rsqrt(held[0]) if kind == "rsqrt" else band.sqrt(held[0])
    boxes.narrow(value, made.lo, made.hi)


def _product(band: Bands, al: Reals, ah: Reals, bl: Reals, bh: Reals) -> Pair:
    ends = [al * bl, al * bh, ah * bl, ah * bh]
    return _outer(band, ends)


def _quotient(band: Bands, al: Reals, ah: Reals, bl: Reals, bh: Reals) -> Pair:
    """a / b; everything where b holds zero."""
    if np.min(bl) > 0:
        if np.min(al) >= 0:
            return band.E.outward(al / bh, ah / bl)
        if bl is bh:
            lo, hi = al / bl, ah / bl
        elif np.max(bh) < INF:  # to divide twice is faster than to choose by the sign
            lo, hi = np.minimum(al / bl, al / bh), np.maximum(ah / bl, ah / bh)
        else:
            lo, hi = al / np.where(al < 0, bl, bh), ah / np.where(ah < 0, bh, bl)
        if not (some(band.E.is_nan(lo)) or some(band.E.is_nan(hi))):
            return band.E.outward(lo, hi)
    if bl is bh and every(bl != 0):
        lo, hi = al / bl, ah / bl
        is_turned = bl < 0  # a known divisor of less than zero exchanges the ends
        if not (some(band.E.is_nan(lo)) or some(band.E.is_nan(hi))):
            return band.E.outward(np.where(is_turned, hi, lo), np.where(is_turned, lo, hi))
        return _outer(band, [lo, hi])
    zero = np.asarray((bl <= 0) & (bh >= 0), dtype=np.bool_)
    if not some(zero):
        return _outer(band, [al / bl, al / bh, ah / bl, ah / bh])
    bl, bh = np.where(zero, 1.0, bl), np.where(zero, 1.0, bh)
    lo, hi = _outer(band, [al / bl, al / bh, ah / bl, ah / bh])
    return np.where(zero, -INF, lo), np.where(zero, INF, hi)


def _outer(band: Bands, ends: list[Any]) -> Pair:
    lo = hi = ends[0]
    for end in ends[1:]:
        lo, hi = np.minimum(lo, end), np.maximum(hi, end)
    if band.E.eps and not some(np.isnan(lo)):  # of floats, the least is NaN where any is
        return band.E.outward(lo, hi)
    unknown = np.asarray(np.any([band.E.is_nan(np.broadcast_to(end, lo.shape)) for end in ends], axis=0))
    lo, hi = band.E.outward(np.where(unknown, -INF, lo), np.where(unknown, INF, hi))
    return lo, hi
