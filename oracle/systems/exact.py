"""The formula itself, in float64 or to any number of digits by mpmath, without a model of rounding."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal

import mpmath
import numpy as np

from kfuzz.oracle.accuracy.functions import FUNCTIONS, OF_TWO
from kfuzz.oracle.numbers.elements import E4M3, ELEMENTS, Element, Reals
from kfuzz.oracle.numbers.grid import grid_of
from kfuzz.oracle.numbers.groups import largest_of_blocks, value_of_block
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.loops import LoopWords
from kfuzz.oracle.systems.moves import MoveWords
from kfuzz.oracle.systems.value import Axes, Operand, Quantity, WordsForFunctions, group

ScatterKind = Literal["sum", "last", "any"]


class Exact(MoveWords, LoopWords, WordsForFunctions):
    """Plain numbers: float64 unless `bits` asks for mpmath's."""

    inf = np.inf
    counts_absent = False

    def __init__(
        self, sizes: Mapping[str, int], form: str = "", bits: int = 0, index: Mapping[str, Reals] | None = None,
        formats: Mapping[str, Element] | None = None, answers: Mapping[str, Reals] | None = None,
    ) -> None:  # fmt: skip
        self.formats, self.answers = formats or {}, answers or {}
        self.sizes, self.form, self.indices = sizes, form, {} if index is None else index
        self.slow = Digits(bits) if bits else None
        self.masked: list[Reals] = []

    @contextmanager
    def over(self, sizes: Mapping[str, int], index: Mapping[str, Reals]) -> Iterator[None]:
        """Have other sizes for a while."""
        usual = self.sizes, self.indices
        self.sizes, self.indices = sizes, index
        try:
            yield
        finally:
            self.sizes, self.indices = usual

    def value(self, x: Reals, *how: Any) -> Quantity:  # noqa: ANN401  operands of any kind
        return Quantity(self, np.asarray(x), how=how)

    def input(self, x: Reals) -> Quantity:
        x = np.asarray(x, dtype=np.float64)
        return self.value(np.asarray(self.slow.of(x.astype(object)), dtype=object) if self.slow else x)

    def number(self, value: Operand) -> Quantity:
        return value if isinstance(value, Quantity) else self.input(np.asarray(value))

    def index(self, dimension: str, axis: int = -1) -> Reals:
        """0, 1, ... along a dimension, placed along an axis that is counted from the end."""
        return self.indices[dimension].reshape(-1, *(1,) * (-axis - 1))

    def size(self, dimension: str) -> int:
        return self.sizes[dimension]

    def function(self, name: str, a: Quantity) -> Quantity:
        """A function of one number, by its name."""
        row = FUNCTIONS[name]
        with np.errstate(all="ignore"):
            return self.value(self.slow.each(row.of_mpf)(a.x) if self.slow else row.doubles(a.x))

    def function_of_two(self, name: str, a: Operand, b: Operand) -> Quantity:
        """A function of two numbers, by its name."""
        row, first, second = OF_TWO[name], self.number(a).x, self.number(b).x
        with np.errstate(all="ignore"):
            return self.value(self.slow.each(row.of_mpf, 2)(first, second) if self.slow else row.doubles(first, second))

    def pow(self, a: Operand, b: Operand) -> Quantity:
        return self.function_of_two("pow", a, b)

    def atan2(self, y: Operand, x: Operand) -> Quantity:
        return self.function_of_two("atan2", y, x)

    def add(self, a: Quantity, b: Quantity) -> Quantity:
        return self.value(a.x + b.x)

    def sub(self, a: Quantity, b: Quantity) -> Quantity:
        return self.value(a.x - b.x)

    def mul(self, a: Quantity, b: Quantity) -> Quantity:
        made = self.value(a.x * b.x)
        made.absent = either_absent(a, b)
        return made

    def div(self, a: Quantity, b: Quantity) -> Quantity:
        return self.value(self.slow.each(_divide_or_nan, 2)(a.x, b.x) if self.slow else a.x / b.x)

    def neg(self, a: Quantity) -> Quantity:
        return self.value(-a.x)

    def rsqrt(self, a: Quantity) -> Quantity:
        return self.div(self.number(1.0), self.function("sqrt", a))

    def sigmoid(self, a: Quantity) -> Quantity:
        return self.div(self.number(1.0), self.add(self.number(1.0), self.exp(self.neg(a))))

    def max(self, a: Quantity, axis: Axes = -1) -> Quantity:
        if not count_along(a.x.shape, axis):
            return self.value(np.add.reduce(np.zeros(a.x.shape), axis=axis, keepdims=True) - np.inf)
        return self.value(np.maximum.reduce(a.x, axis=axis, keepdims=True))

    def maximum(self, a: Operand, b: Operand) -> Quantity:
        return self.value(np.maximum(self.number(a).x, self.number(b).x))

    def minimum(self, a: Operand, b: Operand) -> Quantity:
        return self.value(np.minimum(self.number(a).x, self.number(b).x))

    def where(self, mask: Reals, a: Operand, b: Operand) -> Quantity:
        return self.value(np.where(mask, self.number(a).x, self.number(b).x))

    def take(self, a: Quantity, index: Reals, axis: int = -1) -> Quantity:
        return self.value(np.take_along_axis(a.x, index, axis))

    def sum(self, a: Quantity, sum: str = "sum", axis: Axes = -1) -> Quantity:
        return self.value(np.add.reduce(a.x, axis=axis, keepdims=True))

    def mean(self, a: Quantity, sum: str = "mean", axis: Axes = -1) -> Quantity:
        return self.value(self.sum(a, sum, axis).x / count_along(a.x.shape, axis))

    def dot(self, a: Quantity, b: Quantity, sum: str = "dot", axis: Axes = -1) -> Quantity:
        return self.sum(self.mul(a, b), sum, axis)

    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity:
        """A B plus the numbers at which its sums start."""
        product = np.matmul(a.x, b.x)
        for start in present(starts):
            product = product + start.x
        return self.value(product)

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        total = np.add.accumulate(a.x, axis=-1)
        if exclusive:
            total = np.concatenate([self.input(np.zeros((*total.shape[:-1], 1))).x, total[..., :-1]], axis=-1)
        return self.value(total)

    def product(self, a: Quantity, sum: str = "product", axis: Axes = -1) -> Quantity:
        return self.value(np.multiply.reduce(a.x, axis=axis, keepdims=True))

    def running_product(self, a: Quantity, sum: str = "product") -> Quantity:
        return self.value(np.multiply.accumulate(a.x, axis=-1))

    def scatter(
        self, into: Quantity, index: Reals, values: Quantity, how: ScatterKind = "sum", sum: str = "scatter",
        axis: int = -1,
    ) -> Quantity:  # fmt: skip
        """`into`, with each of the values added at its place along an axis, or put there, the last one above others."""
        made = into.x.copy()
        at = scatter_places(index, values.shape, axis)
        if how == "sum":
            np.add.at(made, at, values.x)
        else:
            made[at] = values.x
        return self.value(made)

    def places(self, a: Quantity, names: Reals | None = None) -> Quantity:
        """The place of the maximum of the last axis, the first of equal ones, or the name of that place."""
        numbers = np.asarray(a.x, dtype=np.float64) if self.slow is None else a.x
        found = np.expand_dims(np.argmax(numbers, axis=-1), -1)
        if names is not None:
            found = np.take_along_axis(np.broadcast_to(names, a.shape), found, -1)
        return self.input(found)

    # -- moves

    def shift(self, a: Quantity, axis: int = -1) -> Quantity:
        """The maximum, which is subtracted inside an exp and cancels."""
        return self.max(a, axis)

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]:
        mean = self.mean(x, axis=axis)
        off = self.sub(x, mean)
        return mean, self.value(self.dot(off, off, axis=axis).x / (count_along(x.shape, axis) - correction))

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        """sum_j e_j v_j / sum_j e_j."""
        return self.div(self.matmul(e, v), self.sum(e))

    def keep(self, a: Quantity, name: str) -> Quantity:
        return a

    def join(self, *values: Quantity, axis: int = -1) -> Quantity:
        return self.value(np.concatenate([one.x for one in values], axis=axis))

    def element_of(self, name: str) -> Element:
        """The element type of an output that is a grid, or of this name."""
        return self.formats.get(name) or ELEMENTS.get(name, E4M3)

    def groups(self, a: Quantity, width: str | int, height: str | int = 1) -> Quantity:
        return group(self, a, width, height)

    def amax(self, a: Quantity, signed: bool = False) -> Quantity:
        return self.value(largest_of_blocks(a.x if signed else np.abs(a.x), a.blocks))

    def scale(self, amax: Quantity, onto: str, name: str, least: Operand = 0.0, least_scale: Operand = 0.0) -> Quantity:
        largest = grid_of(self.element_of(onto)).largest
        made = self.maximum(self.div(self.maximum(amax, least), self.number(largest)), least_scale)
        made.name = name
        return made

    def written(self, a: Quantity) -> Quantity:
        """What the kernel wrote there, or a itself where no answer is known."""
        answer = self.answers.get(a.name)
        return a if answer is None else self.input(answer.reshape(a.shape))

    def quantize(self, a: Quantity, scale: Quantity, name: str, zero: Quantity | None = None) -> Quantity:
        grid = grid_of(self.element_of(name))
        t = self.div(a, self.value(value_of_block(scale.x, a.blocks, a.shape)))
        whole = np.asarray(t.x, dtype=np.float64)
        if zero is not None:
            whole = np.rint(whole) + np.asarray(value_of_block(zero.x, a.blocks, a.shape), dtype=np.float64)
        made = self.input(grid.round(whole))
        made.blocks, made.name = a.blocks, name
        return made

    def dequantize(self, a: Quantity, scale: Quantity, zero: Quantity | None = None) -> Quantity:
        number = a if zero is None else self.sub(a, self.value(value_of_block(zero.x, a.blocks, a.shape)))
        return self.mul(number, self.value(value_of_block(scale.x, a.blocks, a.shape)))

    def unknown(self, why: str, *sizes: int) -> Quantity:
        return self.input(np.full(sizes, np.nan))


def either_absent(a: Quantity, b: Quantity) -> Reals | None:
    """The elements of a product of which a factor is absent."""
    if a.absent is None or b.absent is None:
        return a.absent if b.absent is None else b.absent
    return np.asarray(a.absent | b.absent)


def scatter_places(index: Reals, shape: tuple[int, ...], axis: int) -> tuple[Reals, ...]:
    """Where each value of this shape goes: to the index along an axis, and to its own place along the others."""
    at: list[Reals] = list(np.indices(shape, sparse=True))
    at[axis] = np.broadcast_to(np.asarray(index, dtype=np.int64), shape)
    return tuple(at)


class Digits:
    """mpmath's numbers of so many bits."""

    def __init__(self, bits: int) -> None:
        self.context = mpmath.MPContext()
        self.context.prec = bits
        self.of = np.frompyfunc(self.context.mpf, 1, 1)

    def each(self, function: Callable[..., Any], inputs: int = 1) -> Callable[..., Reals]:
        """A function of this context and of numbers, for each number of arrays."""
        ufunc = np.frompyfunc(partial(function, self.context), inputs, 1)
        return lambda *x: np.asarray(ufunc(*x), dtype=object)


def _divide_or_nan(context: Any, a: Any, b: Any) -> Any:  # noqa: ANN401  mpf has no static type
    return a / b if b != 0 else context.nan if a == 0 or a != a else context.sign(a) * context.inf  # noqa: PLR0124  NaN alone
