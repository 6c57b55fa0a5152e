"""The stage of an op's formula in which each of its sums lies, which assigns the counter's counts to sums.

Runs the formula over a number system that records where each sum goes. Knows formulas; never a kernel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.exact import Exact, ScatterKind
from kfuzz.oracle.systems.value import Axes, Operand, Quantity

Depths = Mapping[str, int]
"""Sums by name, each with the number of additions to it after it is complete, such as an eps."""


@dataclass(frozen=True)
class Stages:
    """The sums of a value: the sum that it is, those that it was divided by, and those in a function or a product."""

    sum: Depths = field(default_factory=dict)
    inner: Depths = field(default_factory=dict)
    divided: Depths = field(default_factory=dict)
    is_constant: bool = False
    is_exponential: bool = False
    ends_in_difference: bool = False

    def closed(self) -> "Stages":
        """Turn the value's own sum into an inner one; a subtraction at its end is not an addition to it."""
        less = int(self.ends_in_difference)
        return Stages({}, least(self.inner, {name: depth - less for name, depth in self.sum.items()}), self.divided)


def least(*many: Depths) -> Depths:
    """All the names; the lesser of two depths."""
    found: dict[str, int] = {}
    for depths in many:
        for name, depth in depths.items():
            found[name] = min(depth, found.get(name, depth))
    return found


def join_stages(*many: Stages, more: int = 0) -> Stages:
    """Join values into one with `more` additional additions."""
    sums = least(*(one.sum for one in many))
    return Stages(
        {name: depth + more for name, depth in sums.items()},
        least(*(one.inner for one in many)),
        least(*(one.divided for one in many)),
        is_constant=all(one.is_constant for one in many),
    )


class StagedQuantity(Quantity):
    """A value that knows where its sums lie."""

    __slots__ = ("stages",)
    stages: Stages

    def like(self, parts: Sequence[Reals], how: tuple[Any, ...]) -> Quantity:
        return staged(super().like(parts, how), self.stages)


def staged(made: Quantity, stages: Stages) -> StagedQuantity:
    found = StagedQuantity(made.N, *made.parts, how=made.how)
    found.stages = stages
    return found


def of(value: Quantity) -> Stages:
    return value.stages if isinstance(value, StagedQuantity) else Stages()


class Staged(Exact):
    """The exact answer, with a record of where each sum goes. Long, since each word of a formula has a rule."""

    def number(self, value: Operand) -> Quantity:
        return value if isinstance(value, Quantity) else staged(super().number(value), Stages(is_constant=True))

    def add(self, a: Quantity, b: Quantity) -> Quantity:
        return staged(super().add(a, b), join_stages(of(a), of(b), more=1))

    def sub(self, a: Quantity, b: Quantity) -> Quantity:
        return staged(super().sub(a, b), replace(join_stages(of(a), of(b), more=1), ends_in_difference=True))

    def neg(self, a: Quantity) -> Quantity:
        return staged(super().neg(a), of(a))

    def mul(self, a: Quantity, b: Quantity) -> Quantity:
        return staged(super().mul(a, b), product(of(a), of(b)))

    def div(self, a: Quantity, b: Quantity) -> Quantity:
        s, t = of(a), of(b)
        both = s if t.is_constant else join_stages(s, Stages({}, t.inner, least(t.divided, t.sum)))
        return staged(super().div(a, b), both)

    def function(self, name: str, a: Quantity) -> Quantity:
        s = of(a).closed()
        return staged(super().function(name, a), Stages({}, least(s.inner, s.divided), is_exponential=name == "exp"))

    def function_of_two(self, name: str, a: Operand, b: Operand) -> Quantity:
        s = join_stages(of(self.number(a)), of(self.number(b))).closed()
        return staged(super().function_of_two(name, a, b), Stages({}, least(s.inner, s.divided)))

    def max(self, a: Quantity, axis: Axes = -1) -> Quantity:
        return staged(super().max(a, axis), of(a))

    def maximum(self, a: Operand, b: Operand) -> Quantity:
        return staged(super().maximum(a, b), join_stages(of(self.number(a)), of(self.number(b))))

    def minimum(self, a: Operand, b: Operand) -> Quantity:
        return staged(super().minimum(a, b), join_stages(of(self.number(a)), of(self.number(b))))

    def where(self, mask: Reals, a: Operand, b: Operand) -> Quantity:
        return staged(super().where(mask, a, b), join_stages(of(self.number(a)), of(self.number(b))))

    def take(self, a: Quantity, index: Reals, axis: int = -1) -> Quantity:
        return staged(super().take(a, index, axis), of(a))

    def join(self, *values: Quantity, axis: int = -1) -> Quantity:
        return staged(super().join(*values, axis=axis), join_stages(*map(of, values)))

    def sum(self, a: Quantity, sum: str = "sum", axis: Axes = -1) -> Quantity:
        return staged(super().sum(a, sum, axis), summed(of(a), sum))

    def mean(self, a: Quantity, sum: str = "mean", axis: Axes = -1) -> Quantity:
        return staged(super().mean(a, sum, axis), summed(of(a), sum))

    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity:
        terms = product(of(a), of(b))
        for start in starts:
            terms = join_stages(terms, of(start))
        return staged(super().matmul(a, b, sum, starts), summed(terms, sum, more=len(starts)))

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        return staged(super().running_sum(a, sum, exclusive), summed(of(a), sum))

    def product(self, a: Quantity, sum: str = "product", axis: Axes = -1) -> Quantity:
        return staged(super().product(a, sum, axis), summed(of(a), sum))

    def running_product(self, a: Quantity, sum: str = "product") -> Quantity:
        return staged(super().running_product(a, sum), summed(of(a), sum))

    def scatter(
        self, into: Quantity, index: Reals, values: Quantity, how: ScatterKind = "sum", sum: str = "scatter",
        axis: int = -1,
    ) -> Quantity:  # fmt: skip
        both = join_stages(of(into), of(values))
        made = super().scatter(into, index, values, how, sum, axis)
        return staged(made, summed(both, sum) if how == "sum" else both)

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]:
        mean = self.mean(x, sums[0], axis)
        off = self.sub(x, mean)
        n = float(count_along(x.shape, axis) - correction)
        return mean, self.div(self.dot(off, off, sums[1], axis), self.number(n))

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        return self.div(self.matmul(e, v, sums[0]), self.sum(e, sums[1]))


def product(s: Stages, t: Stages) -> Stages:
    """Turn a factor that is a sum into an inner one, unless the other is a number, or an exp, which rescales."""
    if s.is_constant or t.is_constant:
        return t if s.is_constant else s
    if s.is_exponential or t.is_exponential:
        return join_stages(s, t)
    return join_stages(s.closed(), t.closed())


def summed(s: Stages, name: str, more: int = 0) -> Stages:
    """A sum; its start is `more` additions that no claim counts, like those after it is complete."""
    return Stages({**s.sum, name: more}, s.inner, s.divided)


def stages_of(op: Op, form: str | None) -> dict[str, dict[str, int]]:
    """For each stage, the sums that an answer has there, in the claimed form or in any."""
    sizes = op.small_sizes(3)
    inputs, scalars = op.random_inputs(sizes, np.random.default_rng(2)), op.scalars_of(sizes, {})
    found = Stages()
    for one in op.forms_of(form):
        with np.errstate(all="ignore"):
            made = op.run(Staged(sizes, one, index=Places(sizes)), inputs, sizes, scalars)
        found = join_stages(found, *(of(value) for value in made.values()))
    return {"sum": dict(found.sum), "inner": dict(found.inner), "divided": dict(found.divided)}
