"""Gradients of a formula: its steps on a tape, walked backwards in the words of a formula.

`backward of NAME` is an op made from another: its inputs are that op's and the gradient of each of its outputs, `g_y`;
its outputs are the gradients of its float inputs, `d_x`. All sums have names: `d x` for what was one element for
several, `k da` and `k db` for a product whose sum is `k`. A formula's steps are those of the system that it runs over,
so a gradient is judged by the same rules as any formula. Knows words; it knows no number system.
Long, since it has the gradient of every word.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.answer_sets import AnswerSets, Asked
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.spelling import formula_over
from kfuzz.oracle.systems.absent import Absent, present
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.loops import LoopWords
from kfuzz.oracle.systems.value import (
    Axes,
    Filler,
    Operand,
    Pads,
    PerAxis,
    Quantity,
    System,
    WordsForFunctions,
    in_form,
)
from kfuzz.oracle.words.gradients import total

PREFIX = "backward of "
GRADIENT, DERIVATIVE = "g_", "d_"
Made = tuple["Taped", Quantity]
"""An operand, and what a step adds to its gradient."""
Back = Callable[[Quantity], Sequence[Made]]
"""What a step adds to the gradients of its operands, by its own gradient."""
Traced = Any
"""A step, for words whose system takes any quantity."""
PLACES: Any = Exact({})
"""A system for places, which moves as the elements do."""


class Taped(Quantity):
    """A value on the tape. `base`: the value of the system; `back`: the way back, none for a constant.

    `summed`: of a sum along the last axis, the value that was added up. `form`: that of the step, for the way back.
    """

    __slots__ = ("back", "base", "form", "summed")

    def __init__(self, tape: "Tape", base: Quantity, back: Back | None = None) -> None:
        words: Any = tape
        super().__init__(words, *base.parts)
        self.base, self.back, self.is_point = base, back, base.is_point
        self.summed: Taped | None = None
        self.form = tape.N.form
        tape.made.append(self)

    def viewed(self, move: Callable[[Reals], Reals], how: str = "part") -> Quantity:
        return self._moved(move, how, is_view=True)

    def __getitem__(self, place: Any) -> Quantity:  # noqa: ANN401  any index that numpy takes
        parts = place if isinstance(place, tuple) else (place,)
        return self._moved(lambda part: part[place], "part", not any(isinstance(one, np.ndarray) for one in parts))

    def _moved(self, move: Callable[[Reals], Reals], how: str, is_view: bool) -> Quantity:
        tape: Any = self.N
        places = move(np.arange(math.prod(self.shape)).reshape(self.shape))
        made: Taped = tape.moved(self, self.base.viewed(move, how), places, is_view)
        return made

    def expanded(self, *sizes: int) -> Quantity:
        tape: Any = self.N
        made: Taped = tape.step(self.base.expanded(*sizes), [self], lambda g: [(self, g)])
        return made

    def __add__(self, other: Operand) -> Quantity:
        return other + self if isinstance(other, Absent) else super().__add__(other)

    def __sub__(self, other: Operand) -> Quantity:
        return self if isinstance(other, Absent) and not other.value else super().__sub__(other)

    def __mul__(self, other: Operand) -> Quantity:
        return other * self if isinstance(other, Absent) else super().__mul__(other)


class Tape(LoopWords, WordsForFunctions):
    """The words of a formula over a system, which remember their steps."""

    inf = np.inf

    def __init__(self, N: Any) -> None:  # noqa: ANN401  any system
        self.N, self.made, self.form = N, list[Taped](), N.form
        self.size, self.index = N.size, N.index
        self.counts_absent, self.masked = N.counts_absent, N.masked

    def step(self, base: Quantity, operands: Sequence[Quantity], back: Back) -> Taped:
        """A step; a constant, if all its operands are."""
        is_live = any(isinstance(one, Taped) and one.back is not None for one in operands)
        return Taped(self, base, back if is_live else None)

    def moved(self, a: Traced, base: Quantity, places: Reals, is_view: bool = False) -> Taped:
        """Elements at other places: for each its place in a, -1 for one that is none of a's.

        A kernel adds what comes back to where it came from, if need be by atomics, but for a view it just moves it.
        """
        return self.step(base, [a], lambda g: [(a, gathered(self.N, g, places, a.shape, is_view))])

    def number(self, value: Operand) -> Taped:
        return value if isinstance(value, Taped) else Taped(self, self.N.number(value))

    def input(self, x: Reals) -> Taped:
        return Taped(self, self.N.input(x))

    def unknown(self, why: str, *sizes: int) -> Taped:
        return Taped(self, self.N.unknown(why, *sizes))

    def keep(self, a: Traced, name: str) -> Taped:
        return self.step(self.N.keep(a.base, name), [a], lambda g: [(a, g)])

    # -- sums and products of two

    def add(self, a: Traced, b: Traced) -> Taped:
        return self.step(self.N.add(a.base, b.base), [a, b], lambda g: [(a, g), (b, g)])

    def sub(self, a: Traced, b: Traced) -> Taped:
        return self.step(self.N.sub(a.base, b.base), [a, b], lambda g: [(a, g), (b, -g)])

    def mul(self, a: Traced, b: Traced) -> Taped:
        def back(g: Quantity) -> list[Made]:
            return [(a, g * (2.0 * a.base))] if a is b else [(a, g * b.base), (b, g * a.base)]

        return self.step(self.N.mul(a.base, b.base), [a, b], back)

    def div(self, a: Traced, b: Traced) -> Taped:
        """A quotient; of an exponential and the sum of all, the mean of the gradients is taken as one (R11)."""
        made = self.N.div(a.base, b.base)

        def back(g: Quantity) -> list[Made]:
            return [(a, over(self.N, g, b.base)), (b, -over(self.N, g * made, b.base))]

        def of_softmax(g: Quantity) -> list[Made]:
            e = a.base
            row = e.reshaped(*e.shape[:-1], 1, e.shape[-1])
            g = g.expanded(*e.shape)
            mean = self.N.average(row, g.reshaped(*g.shape, 1), ("D", "row"))[..., 0]
            return [(a, over(self.N, g - mean, b.base))]

        is_softmax = b.summed is a and a.base.terms is not None
        return self.step(made, [a, b], of_softmax if is_softmax else back)

    def neg(self, a: Traced) -> Taped:
        return self.step(self.N.neg(a.base), [a], lambda g: [(a, -g)])

    def pow(self, a: Operand, b: Operand) -> Taped:
        x, y = self.number(a), self.number(b)
        made = self.N.pow(x.base, y.base)

        def back(g: Quantity) -> list[Made]:
            of_base = [(x, g * y.base * self.N.pow(x.base, y.base - 1.0))] if x.back else []
            return [*of_base, *([(y, g * made * self.N.log(x.base))] if y.back else [])]

        return self.step(made, [x, y], back)

    def atan2(self, y: Operand, x: Operand) -> Taped:
        a, b = self.number(y), self.number(x)

        def back(g: Quantity) -> list[Made]:
            both = a.base * a.base + b.base * b.base
            return [(a, over(self.N, g * b.base, both)), (b, -over(self.N, g * a.base, both))]

        return self.step(self.N.atan2(a.base, b.base), [a, b], back)

    # -- functions

    def function(self, name: str, a: Traced) -> Taped:
        made = self.N.function(name, a.base) if name != "exp" else self.N.exp(a.base)
        if name not in DERIVATIVES:  # a step
            return Taped(self, made)
        return self.step(made, [a], lambda g: [(a, DERIVATIVES[name](self.N, a.base, made, g))])

    def exp(self, a: Traced) -> Taped:
        return self.function("exp", a)

    def rsqrt(self, a: Traced) -> Taped:
        made = self.N.rsqrt(a.base)
        return self.step(made, [a], lambda g: [(a, g * -0.5 * (made * made * made))])

    def sigmoid(self, a: Traced) -> Taped:
        made = self.N.sigmoid(a.base)
        return self.step(made, [a], lambda g: [(a, g * (made * (1.0 - made)))])

    # -- selection

    def max(self, a: Traced, axis: Axes = -1) -> Taped:
        made = self.N.max(a.base, axis)

        def back(g: Quantity) -> list[Made]:
            (_, most), (least, _) = ends(a.base), ends(made)
            may_be = np.broadcast_to(np.logical_not(most < least), a.shape)
            return [(a, share_gradient(self.N, may_be, may_be.sum(axis=axis, keepdims=True) == 1, g))]

        return self.step(made, [a], back)

    def shift(self, a: Traced, axis: int = -1) -> Taped:
        """It cancels, so no gradient goes through it."""
        return Taped(self, self.N.shift(a.base, axis))

    def maximum(self, a: Operand, b: Operand) -> Taped:
        x, y = self.number(a), self.number(b)

        def back(g: Quantity) -> list[Made]:
            (least, most), (other_least, other_most) = ends(x.base), ends(y.base)
            of_x, of_y = np.logical_not(most < other_least), np.logical_not(other_most < least)
            return [(x, share_gradient(self.N, of_x, ~of_y, g)), (y, share_gradient(self.N, of_y, ~of_x, g))]

        return self.step(self.N.maximum(x.base, y.base), [x, y], back)

    def minimum(self, a: Operand, b: Operand) -> Taped:
        return self.neg(self.maximum(self.neg(self.number(a)), self.neg(self.number(b))))

    def where(self, mask: Reals, a: Operand, b: Operand) -> Taped:
        x, y = self.number(a), self.number(b)

        def back(g: Quantity) -> list[Made]:
            return [(x, self.N.where(mask, g, 0.0)), (y, self.N.where(mask, 0.0, g))]

        return self.step(self.N.where(mask, x.base, y.base), [x, y], back)

    def take(self, a: Traced, index: Reals, axis: int = -1) -> Taped:
        places = np.take_along_axis(np.arange(math.prod(a.shape)).reshape(a.shape), index, axis)
        return self.moved(a, self.N.take(a.base, index, axis), places)

    def join(self, *values: Traced, axis: int = -1) -> Taped:
        ends, after = [0, *accumulate(one.shape[axis] for one in values)], (slice(None),) * (-axis - 1)

        def back(g: Quantity) -> list[Made]:
            pieces = zip(values, pairwise(ends), strict=True)
            return [(one, g[(..., slice(*cut), *after)]) for one, cut in pieces]

        return self.step(self.N.join(*(one.base for one in values), axis=axis), list(values), back)

    # -- moves

    def windows(
        self, a: Traced, size: PerAxis, stride: PerAxis = 1, pad: int | Pads = 0, dilation: PerAxis = 1,
        fill: Filler = 0.0,
    ) -> Taped:  # fmt: skip
        base = self.N.windows(a.base, size, stride, pad, dilation, fill)
        return self.moved(a, base, places_of(a, lambda x: PLACES.windows(x, size, stride, pad, dilation, 0.0)))

    def padded(self, a: Traced, pads: Pads, fill: Filler = 0.0) -> Taped:
        return self.moved(a, self.N.padded(a.base, pads, fill), places_of(a, lambda x: PLACES.padded(x, pads, 0.0)))

    def spread(self, a: Traced, strides: Sequence[int], fill: Filler = 0.0) -> Taped:
        base = self.N.spread(a.base, strides, fill)
        return self.moved(a, base, places_of(a, lambda x: PLACES.spread(x, strides, 0.0)))

    def scatter(
        self, into: Traced, index: Reals, values: Traced, how: str = "sum", sum: str = "scatter", axis: int = -1
    ) -> Taped:
        if how != "sum":
            raise OracleError("there is no gradient of a scatter of which one value remains")
        index = np.broadcast_to(index, values.shape)
        base = self.N.scatter(into.base, index, values.base, how, sum, axis)
        return self.step(base, [into, values], lambda g: [(into, g), (values, self.N.take(g, index, axis))])

    # -- sums

    def sum(self, a: Traced, sum: str = "sum", axis: Axes = -1) -> Taped:
        made = self.step(self.N.sum(a.base, sum, axis), [a], lambda g: [(a, g.expanded(*a.shape))])
        made.summed = a if axis == -1 else None
        return made

    def mean(self, a: Traced, sum: str = "mean", axis: Axes = -1) -> Taped:
        made = self.N.mean(a.base, sum, axis)
        count = float(math.prod(a.shape) // max(math.prod(made.shape), 1))
        return self.step(made, [a], lambda g: [(a, (g / count).expanded(*a.shape))])

    def dot(self, a: Traced, b: Traced, sum: str = "dot", axis: Axes = -1) -> Taped:
        def back(g: Quantity) -> list[Made]:
            return [(a, g * (2.0 * a.base))] if a is b else [(a, g * b.base), (b, g * a.base)]

        return self.step(self.N.dot(a.base, b.base, sum, axis), [a, b], back)

    def matmul(self, a: Traced, b: Traced, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Taped:
        first: list[Any] = present(starts)

        def back(g: Quantity) -> list[Made]:
            of_a = [(a, self.N.matmul(g, b.base.T, f"{sum} da"))] if a.back else []
            of_b = [(b, self.N.matmul(a.base.T, g, f"{sum} db"))] if b.back else []
            return [*of_a, *of_b, *((one, g) for one in first)]

        base = self.N.matmul(a.base, b.base, sum, [one.base for one in first])
        return self.step(base, [a, b, *first], back)

    def running_sum(self, a: Traced, sum: str = "scan", exclusive: bool = False) -> Taped:
        def back(g: Quantity) -> list[Made]:
            return [(a, self.N.running_sum(g[..., ::-1], f"{sum} back", exclusive)[..., ::-1])]

        return self.step(self.N.running_sum(a.base, sum, exclusive), [a], back)

    def product(self, a: Traced, sum: str = "product", axis: Axes = -1) -> Taped:
        made = self.N.product(a.base, sum, axis)
        return self.step(made, [a], lambda g: [(a, over(self.N, g * made, a.base))])

    def running_product(self, a: Traced, sum: str = "product") -> Taped:
        made = self.N.running_product(a.base, sum)

        def back(g: Quantity) -> list[Made]:
            later = self.N.running_sum((g * made)[..., ::-1], f"{sum} back")[..., ::-1]
            return [(a, over(self.N, later, a.base))]

        return self.step(made, [a], back)

    def mean_var(
        self, x: Traced, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Taped, Taped]:
        """The variance's gradient is 2 (x - m) / n: nothing goes through its mean, since the sum of x - m is 0."""
        mean, var = self.N.mean_var(x.base, sums, correction, axis)
        n = math.prod(x.shape) // max(math.prod(mean.shape), 1)
        by = 2.0 / (n - correction) if n > correction else math.nan
        return (
            self.step(mean, [x], lambda g: [(x, (g / float(n)).expanded(*x.shape))]),
            self.step(var, [x], lambda g: [(x, (x.base - mean) * (g * by))]),
        )

    def average(self, e: Traced, v: Traced, sums: tuple[str, str] = ("pv", "row")) -> Taped:
        """o = sum e v / sum e: de = (g v^T - g o) / sum e, and dv = (e / sum e)^T g."""
        made = self.N.average(e.base, v.base, sums)

        def back(g: Quantity) -> list[Made]:
            row = self.N.sum(e.base, sums[1])
            of_v = [(v, self.N.matmul((e.base / row).T, g, f"{sums[0]} db"))] if v.back else []
            off = self.N.matmul(g, v.base.T, f"{sums[0]} da") - self.N.dot(g, made, "D")
            return [(e, over(self.N, off, row)), *of_v]

        return self.step(made, [e, v], back)

    def places(self, a: Traced, names: Reals | None = None) -> Taped:
        return Taped(self, self.N.places(a.base, names))

    def __getattr__(self, word: str) -> Any:  # noqa: ANN401  a word
        raise OracleError(f"there is no gradient of N.{word}")


DERIVATIVES: Mapping[str, Callable[[Any, Quantity, Quantity, Quantity], Quantity]] = {
    "exp": lambda N, x, y, g: g * y,
    "exp2": lambda N, x, y, g: g * (y * math.log(2)),
    "expm1": lambda N, x, y, g: g * (y + 1.0),
    "log": lambda N, x, y, g: over(N, g, x),
    "log2": lambda N, x, y, g: over(N, g, x * math.log(2)),
    "log10": lambda N, x, y, g: over(N, g, x * math.log(10)),
    "log1p": lambda N, x, y, g: over(N, g, 1.0 + x),
    "sqrt": lambda N, x, y, g: over(N, g * 0.5, y),
    "tanh": lambda N, x, y, g: g * (1.0 - y * y),
    "erf": lambda N, x, y, g: g * (2 / math.sqrt(math.pi)) * N.exp(-(x * x)),
    "erfc": lambda N, x, y, g: g * (-2 / math.sqrt(math.pi)) * N.exp(-(x * x)),
    "sin": lambda N, x, y, g: g * N.cos(x),
    "cos": lambda N, x, y, g: -(g * N.sin(x)),
}
"""By a function: its gradient from the argument, the value and the value's gradient. Steps have none."""


def over(N: Any, g: Quantity, b: Quantity) -> Quantity:  # noqa: ANN401  any system
    """g / b, as a product: a kernel may divide any other factor of it, such as p = e / sum, which may underflow."""
    made: Quantity = g * N.div(N.number(1.0), b)
    return made


def ends(a: Quantity) -> tuple[Reals, Reals]:
    """The least and the greatest number of each set; of a number itself, twice; NaN for what may be NaN.

    Which of NaN and 0 is the greater a kernel may decide as it likes: torch's gradient of relu at NaN is g.
    """
    if len(a.parts) != 3:  # a set has two ends and a NaN
        return a.x, a.x
    return np.where(a.nan, np.nan, a.lo), np.where(a.nan, np.nan, a.hi)


def share_gradient(N: Any, may_be: Reals, is_alone: Reals, g: Quantity) -> Quantity:  # noqa: ANN401  any system
    """The gradient of what may be the extreme: all where it is alone, and any part of it where there are others."""
    shape = np.broadcast_shapes(may_be.shape, is_alone.shape, g.shape)
    may_be, is_alone, g = np.broadcast_to(may_be, shape), np.broadcast_to(is_alone, shape), g.expanded(*shape)
    made: Quantity = N.where(may_be, g, 0.0)
    if not any_of(open_ := may_be & ~is_alone):
        return made
    at = np.arange(int(open_.sum()))
    some = g[open_]
    nothing = N.input(np.zeros(at.size))
    between = N.scatter(nothing, np.concatenate([at, at]), N.join(some, nothing), "any", "tie")
    where = np.zeros(shape, dtype=np.int64)
    where[open_] = at
    every: Quantity = N.where(open_, between[where], made)
    return every


def places_of(a: Taped, move: Callable[[Quantity], Quantity]) -> Reals:
    """For each element of a move its place in a; -1 for one that is filled in."""
    ones = np.arange(1.0, math.prod(a.shape) + 1).reshape(a.shape)
    return np.asarray(move(PLACES.input(ones)).x, dtype=np.int64) - 1


def gathered(
    N: Any,  # noqa: ANN401  any system
    g: Quantity, places: Reals, shape: tuple[int, ...], is_view: bool,
) -> Quantity:  # fmt: skip
    """For each element of an array of this shape the sum of the gradients of its copies, at these places of it."""
    size, flat = math.prod(shape), places.ravel()
    g = g.expanded(*places.shape).reshaped(flat.size)
    if not flat.size:
        nothing: Quantity = N.input(np.zeros(shape))
        return nothing
    is_there = flat >= 0
    if not is_view or np.bincount(flat[is_there], minlength=size).max(initial=0) > 1:
        if not is_there.all():
            g, flat = g[np.flatnonzero(is_there)], flat[is_there]
        added: Quantity = N.scatter(N.input(np.zeros(size)), flat, g, "sum", "scatter")
        return added.reshaped(*shape)
    source = np.full(size, -1)
    source[flat[is_there]] = np.flatnonzero(is_there)
    made = g[np.maximum(source, 0).reshape(shape)]
    if not (source >= 0).all():
        made = N.where(source.reshape(shape) >= 0, made, 0.0)
    return made


def fitted(N: Any, g: Quantity, shape: tuple[int, ...], name: str) -> Quantity:  # noqa: ANN401  any system
    """The gradient of what was one element for several: the sum over the axes along which it was."""
    g = g.expanded(*np.broadcast_shapes(g.shape, shape))
    full = (1,) * (len(g.shape) - len(shape)) + shape
    axes = tuple(place - len(full) for place, (n, own) in enumerate(zip(g.shape, full, strict=True)) if n != own)
    if axes:
        g = N.sum(g, name, axis=axes if len(axes) > 1 else axes[0])
    return g if g.shape == shape else g.reshaped(*shape)  # a view hides the factors of a product


def together(N: Any, parts: Sequence[Quantity], name: str) -> Quantity:  # noqa: ANN401  any system
    """The sum of what several steps add to a gradient.

    A kernel may take out a factor that they have in common, and then rounds once more: p g - g may be (p - 1) g.
    """
    if len(parts) == 1:
        return parts[0]
    return total(N, [part * N.input(np.ones(part.shape)) for part in parts], name)


def gradients(
    N: Any,  # noqa: ANN401  any system
    op: Op,
    given: Mapping[str, Any],
    upstream: Mapping[str, Quantity],
) -> dict[str, Quantity]:
    """The gradients of an op's float inputs, by those of its outputs."""
    wanted = [name for name, role in op.inputs.items() if role.is_float]
    return gradients_of(N, op.formula, given, upstream, wanted)


def gradients_of(
    N: Any,  # noqa: ANN401  any system
    formula: Callable[..., Any],
    given: Mapping[str, Any],
    upstream: Mapping[str, Quantity],
    names_wanted: Sequence[str],
) -> dict[str, Quantity]:
    """The gradients of some inputs of a formula, by those of its outputs."""
    tape = Tape(N)
    wanted = {name: Taped(tape, given[name], lambda g: []) for name in names_wanted}
    others = {name: tape.number(one) if isinstance(one, Quantity) else one for name, one in given.items()}
    made: Any = formula(tape, **(others | wanted))
    made = made if isinstance(made, Mapping) else {next(iter(upstream)): made}
    heaps: dict[int, list[Quantity]] = {}
    for name, g in upstream.items():
        shaped = g.reshaped(*made[name].shape) if math.prod(g.shape) == math.prod(made[name].shape) else g
        heaps.setdefault(id(made[name]), []).append(shaped)
    names = {id(one): f"d {name}" for name, one in wanted.items()}
    for one in reversed(tape.made):
        if one.back is None or id(one) not in heaps:
            continue
        name = names.get(id(one), "d")
        g = together(N, [fitted(N, part, one.shape, name) for part in heaps[id(one)]], name)
        heaps[id(one)] = [g]
        with in_form(N, one.form):
            added = one.back(g)
        for operand, more in added:
            if operand.back is not None:
                heaps.setdefault(id(operand), []).append(more)
    zero = N.number(0.0)
    return {name: heaps[id(one)][0] if id(one) in heaps else zero.expanded(*one.shape) for name, one in wanted.items()}


def backward_of(op: Op) -> Op:
    """The op that computes the gradients of an op, over whatever arrays that has."""
    if op.own is not None and op.views is not None:
        return _over_other_arrays(op, backward_of(op.own))
    if op.answers is not None or op.has_grid:
        raise OracleError(f"{PREFIX}{op.name}: {op.name} has no gradient")
    if op.sets is not None:
        return _with_roles(replace(op, formula=_centers_of(op.sets)), op)
    outputs = [name for name, role in op.outputs.items() if role.is_float]

    def formula(N: System, **given: Any) -> dict[str, Quantity]:  # noqa: ANN401  quantities and integers
        upstream = {name: given.pop(f"{GRADIENT}{name}") for name in outputs}
        made = gradients(N, op, given, upstream)
        return {f"{DERIVATIVE}{name}": one for name, one in made.items()}

    return _with_roles(replace(op, formula=formula), op)


def _centers_of(sets: AnswerSets) -> Callable[..., dict[str, Quantity]]:
    """The exact answers of an op whose file gives the sets of its gradients, too, where it is asked with those of its
    outputs.
    """

    def formula(N: Exact, **given: Any) -> dict[str, Quantity]:  # noqa: ANN401  quantities and integers
        numbers = {name: one.x if isinstance(one, Quantity) else one for name, one in given.items()}
        made = sets(Asked(numbers, {}, {}, Accuracy(), Special()))
        return {name: N.value(one.enclosure.want) for name, one in made.items()}

    return formula


def _over_other_arrays(op: Op, own: Op) -> Op:
    """The gradients of an op over other arrays than its own, by those of the op over its own."""
    assert op.views is not None
    inputs, outputs = op.views
    views = (
        {**inputs, **{f"{GRADIENT}{name}": outputs[name] for name, role in op.outputs.items() if role.is_float}},
        {f"{DERIVATIVE}{name}": inputs[name] for name, role in op.inputs.items() if role.is_float},
    )
    return _with_roles(replace(op, formula=formula_over(own, *views), own=own, views=views), op)


def _with_roles(made: Op, op: Op) -> Op:
    """The declarations of an op of gradients."""
    upstream = {f"{GRADIENT}{name}": role for name, role in op.outputs.items() if role.is_float}
    return replace(
        made,
        name=f"{PREFIX}{op.name}",
        about=f"{PREFIX}{op.name}: the gradients of its inputs, by those of its outputs.",
        inputs={**op.inputs, **upstream},
        outputs={f"{DERIVATIVE}{name}": role for name, role in op.inputs.items() if role.is_float},
        special={},
        is_gradient=True,
        diagnose=None,
        also={},
        steps=(),
    )
