"""A value of any number system, with the operators of formulas, and the words that a formula may ask of a system.

Knows no arithmetic: every operator asks the value's own system.
Long, since it has the operators and every word of formulas.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, Protocol, Union

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.groups import BlockSize

QUOTIENT = "quotient"
"""The name by which a claim keeps x / scale in a narrower format."""
ABSENT: Literal["absent"] = "absent"
Operand = Union["Quantity", float, int]
Filler = float | Literal["absent"]
"""What lies beyond an end: a number, or nothing that has to be added."""
PerAxis = int | Sequence[int]
Pads = Sequence[int | tuple[int, int]]
Axes = int | tuple[int, ...]
"""One axis, counted from the end, or several."""


class Quantity:
    """An array of one system's numbers, `parts`, and its origin: `how` is a step's name with its operands.

    `name`: the name of its sum; `slack`: what a loss to underflow may be multiplied by, if a factor that comes later is
    multiplied with a part of it first.
    `below`: for an exponent, the two operands of its difference from a shift. `terms`: the exponents of an exponential.
    `blocks`: the rows and columns of a group that shares a scale.
    `absent`: elements that are 0 and that a kernel may add, multiply or leave out, such as the zeros of a padding.
    `is_point`: whether each element is known exactly, as an input is, or known to be NaN.
    `number`: the number of the step that made it; 0 for a view of another value's elements.
    """

    __slots__ = ("N", "_slack", "absent", "below", "blocks", "how", "is_point", "name", "number", "parts", "terms")
    __array_ufunc__ = None  # an array on the left leaves the operation to us

    def __init__(self, N: "System", *parts: Reals, how: tuple[Any, ...] = ()) -> None:
        self.N, self.parts, self.how, self.name, self.number = N, parts, how, "", 0
        self._slack: Any = 1.0
        self.below: Any = None
        self.terms: Any = None
        self.blocks: BlockSize = (1, 1)
        self.absent: Reals | None = None
        self.is_point = len(parts) > 1 and parts[0] is parts[1]

    @property
    def slack(self) -> Any:  # noqa: ANN401  an array, or a number
        """What a loss to underflow may be multiplied by; a function that was set is called, once it is asked for."""
        if callable(self._slack):
            self._slack = self._slack()
        return self._slack

    @slack.setter
    def slack(self, made: Any) -> None:  # noqa: ANN401  an array, a number, or a function that makes one
        self._slack = made

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parts[0].shape

    @property
    def x(self) -> Reals:
        return self.parts[0]

    @property
    def lo(self) -> Reals:
        return self.parts[0]

    @property
    def hi(self) -> Reals:
        return self.parts[1]

    @property
    def nan(self) -> Reals:
        return self.parts[2]

    @property
    def is_one(self) -> bool:
        """Whether this is certainly the number 1, by which no kernel multiplies."""
        return not self.shape and all(bool(end == 1) for end in self.parts[:2])

    @property
    def is_zero(self) -> Reals:
        """Where this is certainly 0. A denormal that a kernel may read as 0 is not: what is chosen there is a set."""
        return np.asarray((self.parts[0] == 0) & (self.parts[:2][-1] == 0))

    @property
    def T(self) -> "Quantity":  # noqa: N802  as numpy has it
        """The last two axes exchanged."""
        return self.viewed(lambda part: np.swapaxes(part, -1, -2), "transposed")

    def __getitem__(self, place: Any) -> "Quantity":  # noqa: ANN401  any index that numpy takes
        return self.viewed(lambda part: part[place])

    def reshaped(self, *sizes: int) -> "Quantity":
        """The same elements in another shape."""
        return self.viewed(lambda part: part.reshape(sizes))

    def permuted(self, order: tuple[int, ...]) -> "Quantity":
        """The axes in another order."""
        return self.viewed(lambda part: part.transpose(order))

    def expanded(self, *sizes: int) -> "Quantity":
        """The same elements, repeated along axes of length one."""
        return self.viewed(lambda part: np.broadcast_to(part, sizes), "expanded")

    def viewed(self, move: Callable[[Reals], Reals], how: str = "part") -> "Quantity":
        """The same elements at other places: `move` places those of any array of this shape."""
        shape = self.shape
        parts = [part if part.shape == shape else np.broadcast_to(part, shape) for part in self.distinct_parts]
        made = self.like(list(map(move, parts)), (how, self))
        if self.absent is not None:
            made.absent = move(np.broadcast_to(self.absent, self.shape))
        made.slack = partial(self._move_slack, move)
        return made

    def _move_slack(self, move: Callable[[Reals], Reals]) -> Any:  # noqa: ANN401  an array, or a number
        return move(np.broadcast_to(self.slack, self.shape)) if np.ndim(self.slack) else self.slack

    @property
    def distinct_parts(self) -> tuple[Reals, ...]:
        """The parts, without the upper end if it is the lower one."""
        is_known = len(self.parts) > 1 and self.parts[0] is self.parts[1]
        return self.parts[1:] if is_known else self.parts

    def like(self, parts: Sequence[Reals], how: tuple[Any, ...]) -> "Quantity":
        """A value as well known as this one, from its distinct parts."""
        parts = parts if len(parts) == len(self.parts) else (parts[0], *parts)
        made = Quantity(self.N, *parts, how=how)
        made.is_point = self.is_point
        return made

    def __add__(self, other: Operand) -> "Quantity":
        return self.N.add(self, self.N.number(other))

    def __radd__(self, other: Operand) -> "Quantity":
        return self.N.add(self.N.number(other), self)

    def __sub__(self, other: Operand) -> "Quantity":
        return self.N.sub(self, self.N.number(other))

    def __rsub__(self, other: Operand) -> "Quantity":
        return self.N.sub(self.N.number(other), self)

    def __mul__(self, other: Operand) -> "Quantity":
        return self.N.mul(self, self.N.number(other))

    def __rmul__(self, other: Operand) -> "Quantity":
        return self.N.mul(self.N.number(other), self)

    def __truediv__(self, other: Operand) -> "Quantity":
        return self.N.div(self, self.N.number(other))

    def __rtruediv__(self, other: Operand) -> "Quantity":
        return self.N.div(self.N.number(other), self)

    def __neg__(self) -> "Quantity":
        return self.N.neg(self)

    def __abs__(self) -> "Quantity":
        return self.N.maximum(self, self.N.neg(self))


def group(N: "System", a: Quantity, width: str | int, height: str | int) -> Quantity:
    """The same elements, in groups of so many columns and rows, which are sizes or their names."""
    made = a.reshaped(*a.shape)
    sizes = [N.size(one) if isinstance(one, str) else one for one in (height, width)]
    made.blocks = (sizes[0], sizes[1])
    return made


class WordsForFunctions(Protocol):
    """The functions of one number that are words, each by its row of oracle/accuracy/functions.py."""

    def function(self, name: str, a: Quantity) -> Quantity: ...

    def exp(self, a: Quantity) -> Quantity:
        return self.function("exp", a)

    def exp2(self, a: Quantity) -> Quantity:
        return self.function("exp2", a)

    def expm1(self, a: Quantity) -> Quantity:
        return self.function("expm1", a)

    def log(self, a: Quantity) -> Quantity:
        return self.function("log", a)

    def log2(self, a: Quantity) -> Quantity:
        return self.function("log2", a)

    def log10(self, a: Quantity) -> Quantity:
        return self.function("log10", a)

    def log1p(self, a: Quantity) -> Quantity:
        return self.function("log1p", a)

    def sqrt(self, a: Quantity) -> Quantity:
        return self.function("sqrt", a)

    def rsqrt(self, a: Quantity) -> Quantity:
        return self.function("rsqrt", a)

    def tanh(self, a: Quantity) -> Quantity:
        return self.function("tanh", a)

    def erf(self, a: Quantity) -> Quantity:
        return self.function("erf", a)

    def erfc(self, a: Quantity) -> Quantity:
        return self.function("erfc", a)

    def sin(self, a: Quantity) -> Quantity:
        return self.function("sin", a)

    def cos(self, a: Quantity) -> Quantity:
        return self.function("cos", a)

    def floor(self, a: Quantity) -> Quantity:
        return self.function("floor", a)

    def ceil(self, a: Quantity) -> Quantity:
        return self.function("ceil", a)

    def trunc(self, a: Quantity) -> Quantity:
        return self.function("trunc", a)

    def rint(self, a: Quantity) -> Quantity:
        return self.function("rint", a)

    def sign(self, a: Quantity) -> Quantity:
        return self.function("sign", a)


class System(WordsForFunctions, Protocol):
    """The words in which an op's formula is written.

    Axes are counted from the end; a reduced axis stays, with one element, and so does each of several. `sum` names the
    sum, so that a claim can refer to it; the sums of a matrix product begin at `starts`. `index` and `size` are plain
    integers, for masks. `windows`, `padded` and `spread` work on the last axes; moves.py describes them.
    `unknown` has the given shape, and nothing is known about it: what depends on it is not judged.
    Outputs are named where their element types matter: the grid to which `quantize` rounds and `scale` leads, and the
    scale whose written value `written` takes.
    `counts_absent`: a claim says in which order all terms are added, absent ones too.
    """

    inf: float
    form: str
    counts_absent: bool
    masked: list[Reals]
    """For each shift of sets, where all its elements are -inf; other systems have none."""

    def number(self, value: Operand) -> Quantity: ...
    def input(self, x: Reals) -> Quantity: ...
    def index(self, dimension: str, axis: int = -1) -> Reals: ...
    def size(self, dimension: str) -> int: ...
    def add(self, a: Quantity, b: Quantity) -> Quantity: ...
    def sub(self, a: Quantity, b: Quantity) -> Quantity: ...
    def mul(self, a: Quantity, b: Quantity) -> Quantity: ...
    def div(self, a: Quantity, b: Quantity) -> Quantity: ...
    def neg(self, a: Quantity) -> Quantity: ...
    def pow(self, a: Operand, b: Operand) -> Quantity: ...
    def atan2(self, y: Operand, x: Operand) -> Quantity: ...
    def sigmoid(self, a: Quantity) -> Quantity: ...
    def max(self, a: Quantity, axis: Axes = -1) -> Quantity: ...
    def maximum(self, a: Operand, b: Operand) -> Quantity: ...
    def minimum(self, a: Operand, b: Operand) -> Quantity: ...
    def where(self, mask: Reals, a: Operand, b: Operand) -> Quantity: ...
    def take(self, a: Quantity, index: Reals, axis: int = -1) -> Quantity: ...
    def sum(self, a: Quantity, sum: str = "sum", axis: Axes = -1) -> Quantity: ...
    def mean(self, a: Quantity, sum: str = "mean", axis: Axes = -1) -> Quantity: ...
    def dot(self, a: Quantity, b: Quantity, sum: str = "dot", axis: Axes = -1) -> Quantity: ...
    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity: ...
    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity: ...
    def shift(self, a: Quantity, axis: int = -1) -> Quantity: ...
    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]: ...
    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity: ...
    def keep(self, a: Quantity, name: str) -> Quantity: ...
    def join(self, *values: Quantity, axis: int = -1) -> Quantity: ...
    def windows(
        self, a: Quantity, size: PerAxis, stride: PerAxis = 1, pad: int | Pads = 0, dilation: PerAxis = 1,
        fill: Filler = 0.0,
    ) -> Quantity: ...  # fmt: skip
    def padded(self, a: Quantity, pads: Pads, fill: Filler = 0.0) -> Quantity: ...
    def spread(self, a: Quantity, strides: Sequence[int], fill: Filler = 0.0) -> Quantity: ...
    def scatter(
        self, into: Quantity, index: Reals, values: Quantity, how: Literal["sum", "last", "any"] = "sum",
        sum: str = "scatter", axis: int = -1,
    ) -> Quantity: ...  # fmt: skip
    def product(self, a: Quantity, sum: str = "product", axis: Axes = -1) -> Quantity: ...
    def running_product(self, a: Quantity, sum: str = "product") -> Quantity: ...
    def places(self, a: Quantity, names: Reals | None = None) -> Quantity: ...
    def steps(
        self, step: Callable[..., Sequence[Quantity]], state: Sequence[Quantity], x: Quantity, reverse: bool = False
    ) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]: ...
    def groups(self, a: Quantity, width: str | int, height: str | int = 1) -> Quantity: ...
    def amax(self, a: Quantity, signed: bool = False) -> Quantity: ...
    def scale(
        self, amax: Quantity, onto: str, name: str, least: Operand = 0.0, least_scale: Operand = 0.0
    ) -> Quantity: ...
    def written(self, a: Quantity) -> Quantity: ...
    def quantize(self, a: Quantity, scale: Quantity, name: str, zero: Quantity | None = None) -> Quantity: ...
    def dequantize(self, a: Quantity, scale: Quantity, zero: Quantity | None = None) -> Quantity: ...
    def unknown(self, why: str, *sizes: int) -> Quantity: ...


WORDS = tuple(
    word
    for words in (WordsForFunctions, System)
    for word, asked in vars(words).items()
    if callable(asked) and not word.startswith("_") and word != "function"
)
"""The words that a formula may ask of a system."""


def exact_numbers(a: Quantity) -> Reals:
    """The numbers of a constant, which is the same in every system, as numpy holds them."""
    return np.asarray(a.x, dtype=np.float64)


@contextmanager
def in_form(N: Any, form: str) -> Iterator[None]:  # noqa: ANN401  any system, and the one that it writes down
    """Let a system compute by this form: not formulas alone ask for it, but also rules, as that of a variance."""
    every, one = [], N
    while one is not None:
        every.append((one, one.form))
        one.form = form
        one = vars(one).get("N")
    try:
        yield
    finally:
        for one, was in every:
            one.form = was
