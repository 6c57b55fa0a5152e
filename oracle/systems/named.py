"""The names that a formula uses for its sums, with their numbers of terms, its narrow values and its functions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from kfuzz.oracle.accuracy.rounding import LOOSEST
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.exact import Exact, ScatterKind
from kfuzz.oracle.systems.loops import LoopStep
from kfuzz.oracle.systems.moves import MoveWords
from kfuzz.oracle.systems.value import QUOTIENT, Axes, Operand, Quantity, System, WordsForFunctions

NUMBERS = ("number", "input", "index", "size")
STEPS = frozenset(name for of in (System, WordsForFunctions) for name in vars(of) if name[0] != "_") - {*NUMBERS}
"""The words that make values of other values."""
MOVES = frozenset(("keep", "join", "take", "shift", "written", *(name for name in vars(MoveWords) if name[0] != "_")))
"""Those that compute nothing."""
OF_A_VALUE = 32
"""What a value costs that is no product in a sum: balls take 3 us for one in each step, and 0.1 us for a term."""


class Named(Exact):
    """The exact answer, with a record of every name that the formula uses."""

    def __init__(self, sizes: Mapping[str, int], form: str, index: Mapping[str, Reals]) -> None:
        super().__init__(sizes, form, index=index)
        self.sums: dict[str, int] = {}
        """The number of terms of the longest sum of each name."""
        self.narrow_values: dict[str, None] = {}
        self.functions: dict[str, None] = {}
        self.has_state = False
        self.longest = 0
        """How many sums follow one another, by whatever names."""
        self.work = 0
        """How many terms all its sums add up, and OF_A_VALUE for each value that its other steps compute."""
        self._own = self._terms = 0
        self._behind: dict[int, tuple[Quantity, int]] = {}
        """By its address a value, which so keeps it, and how many sums follow one another up to it."""

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401  a word is any function
        found = super().__getattribute__(name)
        return partial(self._follow, found, int(name in MOVES) or OF_A_VALUE) if name in STEPS else found

    def _follow(self, word: Callable[..., Any], cost: int, *given: Any, **named: Any) -> Any:  # noqa: ANN401  as the word
        """What the word makes, with the number of sums up to it."""
        made = word(*given, **named)
        before = max((self._sums_to(one) for one in quantities_in((given, *named.values(), made))), default=0)
        longest, terms, self._own, self._terms = before + self._own, self._terms or cost, 0, 0
        for one in quantities_in(made):
            self._behind[id(one)] = one, longest
            self.work += one.x.size * terms
        self.longest = max(self.longest, longest)
        return made

    def _sums_to(self, value: Quantity) -> int:
        while id(value) not in self._behind and value.how and isinstance(value.how[-1], Quantity):  # a view
            value = value.how[-1]
        return self._behind.get(id(value), (value, 0))[1]

    def steps(
        self, step: LoopStep, state: Sequence[Quantity], x: Quantity, reverse: bool = False
    ) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
        self.has_state = True
        return super().steps(step, state, x, reverse)

    def _note(self, sum: str, terms: int) -> None:
        self._own += 1
        self._terms += terms
        self.sums[sum] = max(terms, self.sums.get(sum, 0))

    def function(self, name: str, a: Quantity) -> Quantity:
        if name in LOOSEST:
            self.functions[name] = None
        return super().function(name, a)

    def function_of_two(self, name: str, a: Operand, b: Operand) -> Quantity:
        self.functions[name] = None
        return super().function_of_two(name, a, b)

    def rsqrt(self, a: Quantity) -> Quantity:
        self.functions["rsqrt"] = None
        return super().div(self.number(1.0), super().function("sqrt", a))

    def sum(self, a: Quantity, sum: str = "sum", axis: Axes = -1) -> Quantity:
        self._note(sum, count_along(a.x.shape, axis))
        return super().sum(a, sum, axis)

    def product(self, a: Quantity, sum: str = "product", axis: Axes = -1) -> Quantity:
        self._note(sum, count_along(a.x.shape, axis))
        return super().product(a, sum, axis)

    def running_product(self, a: Quantity, sum: str = "product") -> Quantity:
        self._note(sum, a.x.shape[-1])
        return super().running_product(a, sum)

    def scatter(
        self, into: Quantity, index: Reals, values: Quantity, how: ScatterKind = "sum", sum: str = "scatter",
        axis: int = -1,
    ) -> Quantity:  # fmt: skip
        if how == "sum":
            self._note(sum, values.shape[axis] + 1)
        return super().scatter(into, index, values, how, sum, axis)

    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity:
        self._note(sum, a.x.shape[-1] + len(present(starts)))
        return super().matmul(a, b, sum, starts)

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        self._note(sum, a.x.shape[-1])
        return super().running_sum(a, sum, exclusive)

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]:
        for name in sums:
            self._note(name, count_along(x.x.shape, axis))
        mean = self.value(x.x.mean(axis=axis, keepdims=True))
        return mean, self.value(x.x.var(axis=axis, keepdims=True))

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        for name in sums:
            self._note(name, e.x.shape[-1])
        return self.value((e.x @ v.x) / e.x.sum(axis=-1, keepdims=True))

    def quantize(self, a: Quantity, scale: Quantity, name: str, zero: Quantity | None = None) -> Quantity:
        self.narrow_values[QUOTIENT] = None
        return super().quantize(a, scale, name, zero)

    def keep(self, a: Quantity, name: str) -> Quantity:
        self.narrow_values[name] = None
        return a


def quantities_in(given: Any) -> Iterator[Quantity]:  # noqa: ANN401  what a word takes
    """The values of the system among operands, which may stand in lists."""
    if isinstance(given, Quantity):
        yield given
    elif isinstance(given, list | tuple):
        for one in given:
            yield from quantities_in(one)
