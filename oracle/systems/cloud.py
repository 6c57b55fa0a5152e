"""A value with its tube and its probes: how far a kernel's number may be away, and how roundings before it move it.

Knows how elements lie, and no word of a formula.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.systems.value import Quantity, System

NOTHING = -1
"""The place of a number that no rounding moves: every table of probes ends with a column of zeros."""
PILOT_SHARE, PILOT_ROOM, NARROW_ROOM = 0.75, 2.5, 0.5
"""A first guess of a tube: so many times the magnitude that this share of the probes stays below. The guess is then
tested with other probes, so that its choice moves no verdict. A narrow one is too narrow for few of them."""
TRIED = 2.0 ** np.array([4, 3, 2, 1, 0.5, 0.25, 0, -0.25, -0.5, -1, -2, -4])
"""The parts of a tube that are tried in its place, and wider ones."""
AS_IT_IS = 6
"""The place of the tube itself among them."""
SURE = 1 << 29
"""More probes than any run has: of a number that is known to be in its tube."""


class Cloud(Quantity):
    """Numbers with `parts` (x, R, at, A): x in float64, the tube's radius, and a column of `table` for each element.

    `table`: [probes, elements and a 0], what each probe's roundings move the elements by, to first order. `whole`: the
    columns are the elements, in their order. A, `count` and `grown` are of rearranged.py: the sizes of the terms that
    an element is made of, how many roundings a term may take part in, and the sum of the terms' sizes with each factor
    taken as 1 at least, or 0 if the value is a factor itself. `floor`: no kernel's number is below, whatever its tube.
    """

    __slots__ = ("count", "floor", "grown", "table", "whole")

    def __init__(self, N: Any, parts: Sequence[Reals], table: Reals, whole: bool) -> None:  # noqa: ANN401
        super().__init__(N, *parts)
        self.table, self.whole, self.count, self.grown = table, whole, 0.0, 0.0
        self.floor = -np.inf

    @property
    def R(self) -> Reals:  # noqa: N802  as the derivation has it
        return self.parts[1]

    @property
    def A(self) -> Reals:  # noqa: N802  as the derivation has it
        return self.parts[3]

    @property
    def size(self) -> Reals:
        """The largest magnitude of each number in its tube."""
        return np.where(np.isfinite(self.x), np.abs(self.x), 0.0) + self.R

    @property
    def G(self) -> float:  # noqa: N802  as the derivation has it
        """What a loss to underflow in one factor of its terms may be multiplied by, over all of them."""
        return self.grown or float(np.max(self.size, initial=1.0))

    @property
    def is_known(self) -> bool:
        """Whether no rounding moves it."""
        return bool(self.table.shape[1] == 1)

    def like(self, parts: Sequence[Reals], how: tuple[Any, ...]) -> "Cloud":
        made = Cloud(self.N, parts, self.table, False)
        made.how, made.count, made.grown = how, self.count, self.grown
        made.floor = self.floor if how[:1] != ("neg",) else -np.inf
        return made

    def probes(self, dimensions: int, some: slice = slice(None)) -> Reals:
        """[probes, *shape], with so many dimensions after the first."""
        table = self.table[some] if len(self.table) > 1 else self.table
        moved = table[:, :-1].reshape(len(table), *self.shape) if self.whole else np.take(table, self.parts[2], axis=1)
        return moved.reshape(len(table), *(1,) * (dimensions - len(self.shape)), *self.shape)


def known(N: System, x: Reals) -> Cloud:
    """Numbers that no rounding moves."""
    x = np.asarray(x, dtype=np.float64)
    none, at = np.broadcast_to(0.0, x.shape), np.broadcast_to(NOTHING, x.shape)
    return Cloud(N, (x, none, at, np.abs(x)), np.zeros((1, 1)), False)


def tabled(N: System, x: Reals, R: Reals, moved: Reals) -> Cloud:
    """Numbers with the probes [probes, *shape] of their own."""
    count, elements = len(moved), int(np.prod(x.shape))
    table = np.zeros((count, elements + 1))
    table[:, :-1] = moved.reshape(count, elements)
    return Cloud(N, (x, R, np.arange(elements).reshape(x.shape), np.abs(x)), table, True)


@dataclass
class Tubes:
    """The radii of the tubes, by the step that they belong to.

    In a first run, `radii` are guessed from its own probes. In later ones, whose probes are others, `within` counts for
    each number how many probes stay within `part` of its radius, and of others.
    """

    part: float = 0.0
    radii: list[Reals] = field(default_factory=list)
    within: list[Reals] = field(default_factory=list)
    step: int = 0
    room: float = PILOT_ROOM

    def radius(self, moved: Reals, reach: Reals) -> Reals:
        """The tube of the next step, with these probes; it need not be wider than its operands' tubes reach."""
        self.step += 1
        sizes = np.abs(moved)
        if not self.part:
            rank = min(len(sizes) - 1, int(PILOT_SHARE * len(sizes)))
            self.radii.append(self.room * np.partition(sizes, rank, axis=0)[rank])
            return np.minimum(self.radii[-1], reach)
        radius = self.radii[self.step - 1]
        most = self.part * radius
        inside = np.stack([np.count_nonzero(sizes <= tried * most, axis=0) for tried in TRIED]).astype(np.int32)
        inside[: AS_IT_IS + 1, reach <= radius] = SURE
        if len(self.within) < self.step:
            self.within.append(inside)
        else:
            self.within[self.step - 1] = np.minimum(self.within[self.step - 1] + inside, SURE)
        return np.minimum(radius, reach)

    def closed(self, rank: int) -> bool:
        """Whether every tube held so many probes."""
        return all(all_of(inside[AS_IT_IS] >= rank) for inside in self.within)

    def narrowed(self, rank: int) -> list[Reals]:
        """The least radii that were tried and held so many probes, none wider than it was."""
        return [
            radius * TRIED[np.maximum(least_place(inside, rank), AS_IT_IS)]
            for radius, inside in zip(self.radii, self.within, strict=True)
        ]

    def widened(self, rank: int, room: float) -> list[Reals]:
        """The radii that held so many probes; in place of the others, so many times the least that did."""
        return [
            radius * np.where(inside[AS_IT_IS] >= rank, 1.0, TRIED[least_place(inside, rank)] * room)
            for radius, inside in zip(self.radii, self.within, strict=True)
        ]


def least_place(inside: Reals, rank: int) -> Reals:
    """The place of the least tube that held so many probes; of the widest if none did."""
    return np.asarray(np.maximum(np.count_nonzero(inside >= rank, axis=0) - 1, 0))


Draw = Callable[[tuple[int, ...]], Reals]
"""Numbers of Cauchy's distribution, in this shape."""
