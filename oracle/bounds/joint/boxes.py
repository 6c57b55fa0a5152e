"""The joint test's knowledge of every value on a tape, and the rows in which it contradicts itself."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.value import Quantity

INF = np.inf
STEPS = ("add", "sub", "mul", "div", "stored")
SLACK = 2.0**8
"""docs/numerics.md#float64-tier: room for the ends' own errors, in their last places, before balls are asked."""

UNNAMED = "value"
"""A value that is chosen, as by a maximum: it has no step's name."""


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
        """The contradiction in words."""
        where = row[0] if len(row) == 1 else f"[{', '.join(map(str, row))}]"
        return f"elements {self.high} and {self.low} of row {where} cannot have come of the same {self.name!r}"


class Boxes:
    """The narrowed set of every value on the tape."""

    def __init__(
        self, band: Bands, tape: list[Quantity], shape: tuple[int, ...], shared: tuple[str, ...] | None
    ) -> None:
        self.band, self.shape, self.shared = band, shape, shared
        self.sets: dict[int, Pair] = {id(value): (value.lo, value.hi) for value in tape}
        self.contradictions: dict[tuple[int, ...], Contradiction] = {}
        self.leads_to_unknown: dict[int, bool] = {}
        self.changes: Counter[int] = Counter()
        self.last_changes: dict[tuple[str, int], tuple[int, ...]] = {}

    def is_useful(self, value: Quantity) -> bool:
        """Whether the walk back from a value reaches one that a row shares: only those can contradict themselves."""
        if id(value) not in self.leads_to_unknown:
            steps = value.how[1:3] if value.how[:1] and value.how[0] in STEPS else ()
            below = [self.is_useful(operand) for operand in steps if isinstance(operand, Quantity)]
            self.leads_to_unknown[id(value)] = any(below) or self.is_unknown(value)
        return self.leads_to_unknown[id(value)]

    def is_unknown(self, value: Quantity) -> bool:
        """Whether many elements use this one value and it is not exactly known."""
        return not value.is_point and value.lo.size < math.prod(self.shape) and id(value) in self.sets

    def count_unknowns(self, steps: list[Quantity]) -> int:
        operands = {id(v): v for step in steps for v in step.how[1:3] if isinstance(v, Quantity)}
        return sum(self.is_unknown(value) for value in operands.values())

    def set_of(self, value: Quantity) -> Pair:
        return self.sets.get(id(value), (value.lo, value.hi))

    def has_news(self, what: str, step: Quantity, *sources: Quantity) -> bool:
        """Whether a step may narrow more than last time: whether its sources have been narrowed since."""
        now = tuple(self.changes[id(value)] for value in sources)
        is_same = self.last_changes.get((what, id(step))) == now
        self.last_changes[what, id(step)] = now
        return not is_same

    def _update(self, value: Quantity, lo: Reals, hi: Reals) -> None:
        held_lo, held_hi = self.sets[id(value)]
        if any_of(lo != held_lo) or any_of(hi != held_hi):
            self.changes[id(value)] += 1
            self.sets[id(value)] = (np.asarray(lo), np.asarray(hi))

    def narrow(self, value: Quantity, lo: Reals, hi: Reals) -> None:
        """Intersect with the value's set; along broadcast axes all intervals must hold at once."""
        if id(value) not in self.sets or value.is_point or not self.is_useful(value):
            return
        E = self.band.E
        if any_of(E.is_nan(lo)) or any_of(E.is_nan(hi)):
            lo, hi = np.where(E.is_nan(lo), -INF, lo), np.where(E.is_nan(hi), INF, hi)
        held_lo, held_hi = self.sets[id(value)]
        own = np.broadcast_shapes(held_lo.shape, held_hi.shape)
        wide = np.broadcast_shapes(lo.shape, hi.shape)
        axes = _broadcast_axes(own, wide)
        if axes and not self.is_shared(value):
            return
        least, most = lo, hi
        if axes:
            least, most = np.broadcast_to(lo, wide), np.broadcast_to(hi, wide)
            least, most = (
                np.maximum.reduce(least, axis=axes, keepdims=True),
                np.minimum.reduce(most, axis=axes, keepdims=True),
            )
            least, most = least.reshape(own), most.reshape(own)
        new_lo, new_hi = np.maximum(held_lo, least), np.minimum(held_hi, most)
        crossed = np.asarray(new_lo > new_hi, dtype=np.bool_)
        if not any_of(crossed):
            self._update(value, new_lo, new_hi)
            return
        bad = crossed & self._contradicts(new_lo, new_hi)
        if any_of(bad):
            self._note_contradictions(value, bad, np.broadcast_to(lo, wide), np.broadcast_to(hi, wide))
            new_lo, new_hi = np.where(bad, held_lo, new_lo), np.where(bad, held_hi, new_hi)
        self._update(value, new_lo, np.maximum(new_lo, new_hi))

    def is_shared(self, value: Quantity) -> bool:
        """Whether, by the claim, all elements of a row use one value here."""
        return self.shared is None or value.name in self.shared

    def _contradicts(self, lo: Reals, hi: Reals) -> NDArray[np.bool_]:
        E = self.band.E
        with np.errstate(all="ignore"):
            room = (np.abs(lo) + np.abs(hi)) * (SLACK * E.eps) if E.eps else 0.0
        return np.asarray((lo > hi + room) & E.is_finite(lo) & E.is_finite(hi), dtype=np.bool_)

    def _note_contradictions(self, value: Quantity, bad: NDArray[np.bool_], lo: Reals, hi: Reals) -> None:
        """Note the rows that clash here, and which elements disagree in each."""
        lead = self.shape[:-1]
        if bad.ndim != len(self.shape) or lo.shape != self.shape:
            return
        for place in np.argwhere(np.broadcast_to(bad.any(axis=-1), lead)):
            row = tuple(int(i) for i in place)
            if row in self.contradictions:
                continue
            above, below = (np.asarray(end[row], dtype=np.float64) for end in (lo, hi))
            self.contradictions[row] = _contradiction(value.name or (*value.how, UNNAMED)[0], above, below)


def _contradiction(name: str, lo: Reals, hi: Reals) -> Contradiction:
    """The value on which most elements agree is the median of the values that each alone implies."""
    high, low = int(np.nanargmax(lo)), int(np.nanargmin(hi))
    known = np.isfinite(lo) & np.isfinite(hi)
    agreed = float(np.median((lo[known] + hi[known]) / 2)) if any_of(known) else float(lo[high])
    wrong = (lo > agreed) | (hi < agreed)
    far_high, far_low = lo[high] - agreed, agreed - hi[low]
    excess = float((lo[high] - hi[low]) / max(abs(agreed), 1e-300))
    return Contradiction(name, high, low, high if far_high >= far_low else low, wrong, excess)


def _broadcast_axes(own: tuple[int, ...], wide: tuple[int, ...]) -> tuple[int, ...]:
    padded = (1,) * (len(wide) - len(own)) + own
    return tuple(axis for axis, (a, b) in enumerate(zip(padded, wide, strict=True)) if a == 1 and b != 1) + tuple(
        axis for axis in range(len(wide) - len(own)) if wide[axis] == 1
    )
