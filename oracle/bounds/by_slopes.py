"""The bound of a deep formula: many steps after one another, whose roundings are followed by products of slopes.

Cauchy's distribution is stable: the sum of a_j times independent Cauchy numbers is distributed as sum |a_j| times one.
So the magnitudes of the probes that reach an element bound the sum of all |slopes| times perturbations, whatever the
slopes are: docs/numerics.md#depth.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import F32, F64, Element, Reals
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.op import NO_SCALARS, NamedReals, Op
from kfuzz.oracle.op.shapes import Lengths, Places
from kfuzz.oracle.systems import perturbed
from kfuzz.oracle.systems.cloud import NARROW_ROOM, PILOT_ROOM, Cloud, Tubes
from kfuzz.oracle.systems.depth import Depth

DOUBT = 100
"""A bound by probes fails for an element with a probability of at most 2^-100."""
PILOTS = 128
FEW, MANY = 256, 4096
"""The fewest and the most probes of a last run. They decide how tight a bound is, not whether it holds."""
AT_ONCE = 1 << 25
"""The numbers of probes that are in memory at a time."""
MOST_NUMBERS = 1 << 28
"""The most numbers of a run with more than the fewest probes: 5 to 10 s."""
TESTS = 256
"""The probes of a run that tests tubes."""
LAST = 1024
"""The most probes of a last run, if tubes that were tested with few held them."""
SLIGHT = 2.0**-4
"""docs/numerics.md#depth: what slopes may leave out, in parts of all, before narrower tubes are worth a run."""
BETTER = 0.75
"""Tubes are made narrower until a run leaves more than this part of the answers' widths."""
FEW_ROUNDS, ROUNDS = 4, 12
"""The runs that test tubes with few probes, before more of them allow narrower tubes; the most runs of either kind."""
RUNAWAY = 16.0
"""Tubes that have become so many times as wide as the first guess are given up: each makes the next one wider still."""
ROOM = 8.0
"""A tube is wider than its probes need by this over the root of their number: five standard deviations of the magnitude
at their rank, so that hardly one of a million tubes fails with other probes."""
FLOAT64 = 2.0**-10
"""docs/numerics.md#depth: what float64 loses in steps other than sums, relative to a bound in float32."""


@dataclass(frozen=True)
class DeepEnds:
    """The least and the greatest answer, before it is stored."""

    lo: Reals
    hi: Reals

    def united(self, other: "DeepEnds") -> "DeepEnds":
        """The hull of both."""
        return DeepEnds(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))


@cache
def order_statistic(probes: int) -> tuple[int, float]:
    """The rank of the magnitude that is taken, and the part of the scale that it is at least, but for a doubt.

    If fewer than `rank` of the probes are expected below `part` times the scale, by Chernoff's bound so many are there
    with a probability of at most 2^-DOUBT.
    """
    best = (probes, 0.0, math.inf)
    for rank in range(probes // 4, probes):
        share, low, high = rank / probes, 0.0, rank / probes
        for _ in range(60):
            p = (low + high) / 2
            far = share * math.log(share / p) + (1 - share) * math.log((1 - share) / (1 - p))
            low, high = (p, high) if probes * far >= DOUBT * math.log(2) else (low, p)
        part = math.tan(math.pi / 2 * low)
        width = math.tan(math.pi / 2 * share) / part if part else math.inf
        if width < best[2]:
            best = (rank, part, width)
    return best[0], best[1]


def bound_by_slopes(
    op: Op, form: str, claim: Accuracy, inputs: NamedReals, sizes: Lengths, scalars: Mapping[str, float],
    derived: frozenset[str] = NO_SCALARS, work: Element = F32, least: float = 0.0, system: type[Depth] = Depth,
) -> dict[str, DeepEnds] | None:  # fmt: skip
    """The ends of each output of floats; None if the tubes do not close, or a word has no slope."""
    run = DeepRun(op, form, claim, inputs, sizes, scalars, derived, work, least, system)
    try:
        with np.errstate(all="ignore"):
            return run.ends()
    except OracleError:
        return None


@dataclass
class DeepRun:
    """One formula with its inputs, which is run several times."""

    op: Op
    form: str
    claim: Accuracy
    inputs: NamedReals
    sizes: Lengths
    scalars: Mapping[str, float]
    derived: frozenset[str]
    work: Element
    least: float
    system: type[Depth] = Depth
    elements: int = 0
    curved: float = 0.0

    def once(self, tubes: Tubes, draw: Callable[[tuple[int, ...]], Reals]) -> dict[str, Cloud]:
        """One run, with some probes."""
        tubes.step = 0
        N = self.system(self.claim, self.sizes, self.work, self.form, Places(self.sizes), self.least, tubes, draw)
        try:
            made: Any = self.op.run(N, self.inputs, self.sizes, self.scalars, self.derived)
        finally:
            self.elements = N.elements
        self.curved = N.curved
        return {name: N.settled(one) for name, one in made.items() if self.op.outputs[name].is_float}

    def ends(self) -> dict[str, DeepEnds] | None:
        """The ends, by tubes that few probes can prove, or else by narrower ones, which take many."""
        with suppress(OracleError):  # of tubes so wide that a divisor may be 0 in them
            if made := self.ends_by(PILOT_ROOM, FEW_ROUNDS, TESTS, LAST):
                return made
        if self.elements > perturbed.MOST_ELEMENTS:
            return None
        return self.ends_by(NARROW_ROOM, ROUNDS, MANY, MANY)

    def ends_by(self, room: float, rounds: int, tests: int, last: int) -> dict[str, DeepEnds] | None:
        """The ends, by tubes that are guessed, tested with so many probes, and then made narrower."""
        guess = Tubes(room=room)
        self.once(guess, draws(0, 0, PILOTS))
        probes, last = (min(one, self.most_probes) for one in (tests, last))
        radii, width = guess.radii, math.inf
        is_closed, is_last = False, self.curved <= SLIGHT
        for attempt in range(1, ROUNDS + 1):
            is_last |= attempt == ROUNDS
            count = last if is_last else probes
            rank, part = order_statistic(count)
            tested, made, sizes = self.probed(Tubes(part, radii), attempt, count)
            is_closed = is_closed or tested.closed(rank)
            if not is_closed:
                if attempt >= rounds:
                    return None
                radii = tested.widened(rank, 1 + ROOM / math.sqrt(count))
                if total_of(radii) > RUNAWAY * total_of(guess.radii):
                    return None
                continue
            reach = {name: np.partition(one, rank - 1, axis=0)[rank - 1] / part for name, one in sizes.items()}
            if is_last:
                return {name: self._ends_of(one, reach[name]) for name, one in made.items()}
            radii, before = tested.narrowed(rank), width
            width = total_of(list(reach.values()))
            is_last = width >= BETTER * before
        return None

    @property
    def most_probes(self) -> int:
        """How many probes a run has at most: a power of two."""
        most = MOST_NUMBERS // max(1, self.elements)
        return min(MANY, max(FEW, 1 << max(0, most.bit_length() - 1)))

    def probed(self, tubes: Tubes, attempt: int, probes: int) -> tuple[Tubes, dict[str, Cloud], dict[str, Reals]]:
        """Run with so many probes, some at a time: the tubes, the outputs, and what each probe makes of them."""
        at_once = min(probes, max(1, AT_ONCE // max(1, self.elements)))
        parts: dict[str, list[Reals]] = {}
        made: dict[str, Cloud] = {}
        for start in range(0, probes, at_once):
            count = min(at_once, probes - start)
            made = self.once(tubes, draws(attempt, start, count))
            for name, one in made.items():
                moved = np.broadcast_to(one.probes(len(one.shape)), (count, *one.shape))
                parts.setdefault(name, []).append(np.abs(moved))
        return tubes, made, {name: np.concatenate(every) for name, every in parts.items()}

    def _ends_of(self, made: Cloud, reach: Reals) -> DeepEnds:
        radius = np.minimum(reach, made.R)
        room = 3.0 if self.work is F64 else 1 + FLOAT64  # in float64 the exact values err as a kernel does
        x = np.asarray(made.x)
        return DeepEnds(x - radius * room, x + radius * room)


def total_of(radii: list[Reals]) -> float:
    """The sum of all radii."""
    return sum(float(np.sum(one)) for one in radii)


def draws(attempt: int, first: int, count: int) -> Callable[[tuple[int, ...]], Reals]:
    """Probes of one run, which no other run has."""
    rng = np.random.default_rng([attempt, first])
    return lambda shape: np.tan(math.pi * (rng.random((count, *shape)) - 0.5))
