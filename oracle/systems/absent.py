"""An optional input that a kernel does not have: no step is made with it, so it costs no rounding.

Knows the operators of formulas, and no number system.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kfuzz.oracle.systems.value import Operand, Quantity, System


class Absent(Quantity):
    """Stands in a formula for an input that is left out: 0 as a term, 1 as a factor."""

    __slots__ = ("value",)

    def __init__(self, N: System, value: float) -> None:
        super().__init__(N, np.asarray(value))
        self.value = value

    @property
    def T(self) -> Quantity:  # noqa: N802  as numpy has it
        return self

    def __getitem__(self, place: Any) -> Quantity:  # noqa: ANN401  any index that numpy takes
        return self

    def reshaped(self, *sizes: int) -> Quantity:
        return self

    def permuted(self, order: tuple[int, ...]) -> Quantity:
        return self

    def expanded(self, *sizes: int) -> Quantity:
        return self

    def __add__(self, other: Operand) -> Quantity:
        self._check(0.0, "a term")
        return self.N.number(other)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Quantity:
        self._check(0.0, "a term")
        return -self.N.number(other)

    def __rsub__(self, other: Operand) -> Quantity:
        self._check(0.0, "a term")
        return self.N.number(other)

    def __mul__(self, other: Operand) -> Quantity:
        """No factor, if this is 1; a term that is 0 stays one that is left out."""
        return self.N.number(other) if self.value else self

    __rmul__ = __mul__

    def _check(self, wanted: float, what: str) -> None:
        if self.value != wanted:
            raise ValueError(f"an optional input that is {self.value:g} is {what} here")


def present(values: Sequence[Quantity]) -> list[Quantity]:
    """Those that a kernel has."""
    return [one for one in values if not isinstance(one, Absent)]
