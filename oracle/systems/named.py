"""The names that a formula uses for its sums, with their numbers of terms, its narrow values and its functions."""

from collections.abc import Mapping, Sequence

from kfuzz.oracle.elements import Reals
from kfuzz.oracle.rounding import LOOSEST
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.exact import Exact, ScatterKind
from kfuzz.oracle.systems.loops import LoopStep
from kfuzz.oracle.systems.value import QUOTIENT, Axes, Operand, Quantity


class Named(Exact):
    """The exact answer, with a record of every name that the formula uses."""

    def __init__(self, sizes: Mapping[str, int], form: str, index: Mapping[str, Reals]) -> None:
        super().__init__(sizes, form, index=index)
        self.sums: dict[str, int] = {}
        """The number of terms of the longest sum of each name."""
        self.narrow_values: dict[str, None] = {}
        self.functions: dict[str, None] = {}
        self.has_state = False
        self.count = 0
        """How many sums it adds up, by whatever names."""

    def steps(
        self, step: LoopStep, state: Sequence[Quantity], x: Quantity, reverse: bool = False
    ) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
        self.has_state = True
        return super().steps(step, state, x, reverse)

    def _note(self, sum: str, terms: int) -> None:
        self.count += 1
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
