"""The loosest bound of a deep formula: any rearrangement between two barriers, whose errors go on by their slopes.

As in loosest.py, a value is a sum of terms since the last barrier, of sizes A, each with at most `count` roundings. As
in depth.py, a barrier's error goes on by probes: docs/numerics.md#depth. A function, a divisor and a maximum are
barriers; the others are linear, and any algorithm for them has the same slopes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.functions import FUNCTIONS
from kfuzz.oracle.accuracy.rounding import DIVIDE_ROUNDINGS, FAR
from kfuzz.oracle.numbers.elements import FORMATS, Reals
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.cloud import Cloud
from kfuzz.oracle.systems.depth import Depth
from kfuzz.oracle.systems.exact import ScatterKind, scatter_places
from kfuzz.oracle.systems.loops import LoopStep
from kfuzz.oracle.systems.loosest import OWN_SIZE, RESCALE, running_means
from kfuzz.oracle.systems.room import ROUNDINGS_256
from kfuzz.oracle.systems.value import Axes, Operand, Quantity


class Deepest(Depth):
    """One run of a formula with some probes, of which only barriers make new ones."""

    def made(self, x: Reals, moved: Any, reach: Any, rest: Any, own: Any, off: Any) -> Cloud:  # noqa: ANN401
        """Nothing is rounded here: `expanded` counts a step's roundings, and `settled` makes them an error."""
        return super().made(x, moved, reach, rest, 0.0, off)

    def own(self, A: Reals, R: Reals, count: float, grown: float) -> Reals:
        """What so many roundings make of terms of these sizes, which err by R already; each may underflow."""
        more = np.expm1(min(count * self.u * ROUNDINGS_256, FAR))
        return np.asarray(more * (A + R) + self.tiny * count * grown)

    def expanded(self, made: Cloud, A: Reals, count: float, grown: float = 0.0) -> Cloud:
        """The same value, made of these terms; its tube holds their roundings. Behind a barrier it is one factor."""
        A = np.broadcast_to(A, made.shape)
        own = self.own(A, made.R, count, grown or made.G)
        result = Cloud(self, (made.x, made.R + own, made.parts[2], A), made.table, made.whole)
        result.count, result.how, result.below, result.terms = count, made.how, made.below, made.terms
        result.grown, result.floor = grown, made.floor
        result.absent = made.absent
        return result

    def settled(self, a: Cloud) -> Cloud:
        """A barrier: what its roundings so far come to is one error."""
        if not a.count:
            return a
        made = super().nudged(a, self.own(a.A, a.R, a.count, a.G))
        made.below, made.terms, made.absent = a.below, a.terms, a.absent
        return made

    # -- sums and products of two

    def add(self, a: Cloud, b: Cloud) -> Cloud:
        return self.expanded(super().add(a, b), a.A + b.A, max(a.count, b.count) + 1, a.G + b.G)

    def sub(self, a: Cloud, b: Cloud) -> Cloud:
        return self.expanded(super().sub(a, b), a.A + b.A, max(a.count, b.count) + 1, a.G + b.G)

    def mul(self, a: Cloud, b: Cloud) -> Cloud:
        return self.expanded(super().mul(a, b), a.A * b.A, a.count + b.count + 1, a.G * b.G)

    def div(self, a: Cloud, b: Cloud) -> Cloud:
        by = self.settled(b)
        count = a.count + 1 + DIVIDE_ROUNDINGS[self.claim.divide]
        inverse = float(np.max(1 / (np.abs(by.x) - by.R), initial=1.0))
        return self.expanded(super().div(a, by), a.A / np.abs(by.x), count, a.G * inverse)

    # -- functions

    def function(self, name: str, a: Cloud) -> Cloud:  # type: ignore[override]  # of its own numbers
        if name == "exp":
            return self._exp(a)
        made = super().function(name, self.settled(a))
        if FUNCTIONS[name].course == "step":
            return made
        model = self.claim.function(name)
        return self.expanded(self.nudged(made, model.absolute), np.abs(made.x) + OWN_SIZE.get(name, 0.0), model.a0)

    def _exp(self, a: Cloud) -> Cloud:
        size = float(np.minimum(np.max(a.A, initial=0.0, where=np.isfinite(a.x)), FAR))
        model = self.claim.exp
        made = super()._exp(self.settled(a))
        result = self.expanded(made, np.abs(made.x), model.a0 + (2 + model.kappa) * size)
        result.how = ("exp",)
        return result

    def sigmoid(self, a: Cloud) -> Cloud:
        made = super().sigmoid(self.settled(a))
        count = self.claim.exp.a0 + 2 + DIVIDE_ROUNDINGS[self.claim.divide] + self.claim.function("tanh").a0
        return self.expanded(made, made.x + 1.0, count)

    def pow(self, a: Operand, b: Operand) -> Quantity:
        base = self.number(a)
        assert isinstance(base, Cloud)
        made = super().pow(self.settled(base), b)
        assert isinstance(made, Cloud)
        turn = np.abs(np.log(np.where(made.x != 0, np.abs(made.x), 1.0))).max(initial=0.0)
        power = float(np.max(np.abs(self.number(b).x)))
        return self.expanded(made, np.abs(made.x), self.claim.function("pow").a0 + power + 2 * min(turn, FAR))

    def steps(
        self, step: LoopStep, state: Sequence[Quantity], x: Quantity, reverse: bool = False
    ) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
        """A state is a barrier: no algorithm rearranges sums over the steps of a loop."""
        return super().steps(lambda *held: [self.settled(one) for one in step(*held)], state, x, reverse)  # type: ignore[arg-type]

    # -- selection: a barrier, because the slopes change there

    def max(self, a: Cloud, axis: Axes = -1) -> Cloud:
        return super().max(self.settled(a), axis)

    def shift(self, a: Cloud, axis: int = -1) -> Cloud:
        """It cancels; its size is that of all that exponents are made of."""
        made = super().shift(a, axis)
        finite = np.where(np.isfinite(a.x), np.abs(a.x), 0.0)
        made.parts = (*made.parts[:3], np.broadcast_to(finite, a.shape).max(axis=axis, keepdims=True, initial=0.0))
        return made

    def maximum(self, a: Operand, b: Operand) -> Cloud:
        first, second = self.number(a), self.number(b)
        assert isinstance(first, Cloud)
        assert isinstance(second, Cloud)
        return super().maximum(self.settled(first), self.settled(second))

    def nudged(self, a: Cloud, by: Reals | float) -> Cloud:
        """The same value, which may be off by so much more."""
        made = super().nudged(a, np.asarray(by))
        return made if made is a else self.expanded(made, a.A, 0.0)

    def keep(self, a: Cloud, name: str) -> Cloud:
        narrow = self.claim.narrow_format(name)
        if narrow is None:
            return a
        form = FORMATS[narrow]
        made = self.nudged(self.settled(super().keep(a, name)), form.u * a.size + form.tiny)
        made.terms, made.how = a.terms, ("kept", form)
        return made

    # -- sums

    def _of_sum(self, a: Cloud, terms: float) -> float:
        """The roundings of a term of a sum: its additions, and the rescales of exponentials."""
        rescales = (self.claim.exp.a0 + RESCALE) * terms if a.how == ("exp",) else 0.0
        return terms * self.claim.roundings_per_addition + float(rescales)

    def dot(self, a: Cloud, b: Cloud | None, sum: str = "dot", axis: Axes = -1) -> Cloud:
        made = super().dot(a, b, sum, axis)
        A, count, grown = (a.A, a.count, a.G) if b is None else (a.A * b.A, a.count + b.count + 1, a.G * b.G)
        shape = a.shape if b is None else np.broadcast_shapes(a.shape, b.shape)
        total, n = np.broadcast_to(A, shape).sum(axis=axis, keepdims=True), count_along(shape, axis)
        return self.expanded(made, total, count + self._of_sum(a, n), n * grown)

    def mean(self, a: Cloud, sum: str = "mean", axis: Axes = -1) -> Cloud:
        total = self.sum(a, sum, axis)
        made = super().mean(a, sum, axis)
        return self.expanded(made, total.A / count_along(a.shape, axis), total.count + 4, total.G)

    def matmul(self, a: Cloud, b: Cloud, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Cloud:
        made = super().matmul(a, b, sum, starts)
        operand = FORMATS[self.claim.operand].u / self.f.u if self.claim.operand else 0.0
        A, count, grown = np.matmul(a.A, b.A), a.count + b.count + 1 + 4 * operand, a.shape[-1] * a.G * b.G
        for start in present(starts):
            assert isinstance(start, Cloud)
            A, count, grown = A + start.A, max(count, start.count) + 1, grown + start.G
        return self.expanded(made, A, count + self._of_sum(a, a.shape[-1]), grown)

    def scatter(
        self, into: Cloud, index: Reals, values: Cloud, how: ScatterKind = "sum", sum: str = "scatter", axis: int = -1
    ) -> Cloud:  # fmt: skip
        made = super().scatter(into, index, values, how, sum, axis)
        A = np.array(np.broadcast_to(into.A, into.shape))
        np.add.at(A, scatter_places(index, values.shape, axis), np.broadcast_to(values.A, values.shape))
        count = max(into.count, values.count) + self._of_sum(values, values.shape[axis] + 1)
        return self.expanded(made, A, count, into.G + values.shape[axis] * values.G)

    def running_sum(self, a: Cloud, sum: str = "scan", exclusive: bool = False) -> Cloud:
        made = super().running_sum(a, sum, exclusive)
        total, n = np.cumsum(np.broadcast_to(a.A, a.shape), axis=-1), a.shape[-1]
        return self.expanded(made, total, a.count + self._of_sum(a, n), n * a.G)

    def mean_var(
        self, x: Cloud, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Cloud, Cloud]:
        """Two passes, running means or moments: (|x| + |mean|)^2 has the terms of all."""
        mean, var = super().mean_var(x, sums, correction, axis)
        n = count_along(x.shape, axis)
        squares = np.sum((x.A + mean.A) ** 2, axis=axis, keepdims=True) / (n - correction)
        count = max(2 * mean.count + 8 + n, 2 * x.count + running_means(n, self.claim))
        var.floor = -np.inf  # by moments it may be negative
        return mean, self.expanded(var, squares, count, n * (x.G + mean.G) ** 2)
