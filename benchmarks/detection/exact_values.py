"""What functions of libraries are by their definition, in mpmath: a second opinion on an accusation.

It shares nothing with the oracle. Each function has a row here by the word FUNCTION of its claim; its argument is one
number or a row of them, exactly as the library got it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp
from numpy.typing import NDArray

BITS = 2000
"""So many that 1 - tanh(100), about 2^-288, has all of its digits."""
DIGITS = 20
MOST_SHOWN = 6
Numbers = Sequence[Any]

OF_NUMBER: dict[str, Callable[[Any], Any]] = {
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
    "logsigmoid": lambda x: -mp.log1p(mp.exp(-x)),
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
    "ndtr": lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
    "mish": lambda x: x * mp.tanh(mp.log1p(mp.exp(x))),
    "tanh": mp.tanh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "exp": mp.exp,
    "expm1": mp.expm1,
    "log1p": mp.log1p,
}
"""Functions of one number, element by element."""


def _mean(row: Numbers) -> Any:  # noqa: ANN401  mpmath has no static types
    return mp.fsum(row) / len(row)


def _variance(row: Numbers) -> Any:  # noqa: ANN401  as above
    mean = _mean(row)
    return mp.fsum((x - mean) ** 2 for x in row) / len(row)


def _logsumexp(row: Numbers) -> Any:  # noqa: ANN401  as above
    return mp.log(mp.fsum(mp.exp(x) for x in row))


OF_ROW: dict[str, Callable[[Numbers], Any]] = {
    "logsumexp": _logsumexp,
    "l2_norm": lambda row: mp.sqrt(mp.fsum(x * x for x in row)),
    "mean": _mean,
    "variance": _variance,
    "row_sum": mp.fsum,
}
"""Functions of a row that give one number."""
OF_PLACE: dict[str, Callable[[Numbers, int], Any]] = {
    "softmax": lambda row, at: mp.exp(row[at]) / mp.fsum(mp.exp(x) for x in row),
    "log_softmax": lambda row, at: row[at] - _logsumexp(row),
}
"""Functions of a row that give a row, at one place of it."""

OF_EXPS = ("logsumexp", "softmax", "log_softmax")
"""Those in which -inf has a meaning: its exp is 0."""


@dataclass(frozen=True)
class ExactValue:
    """The right answer, and in words what it is the answer to."""

    number: Any
    given: str

    @property
    def digits(self) -> str:
        return str(mp.nstr(self.number, DIGITS))


def exact_value(function: str, inputs: Mapping[str, NDArray[np.float64]], index: tuple[int, ...]) -> ExactValue | None:
    """One element of an answer; None if the function has no row here, or the numbers are not finite."""
    if function not in (*OF_NUMBER, *OF_ROW, *OF_PLACE) or "x" not in inputs:
        return None
    x = inputs["x"][index if function in OF_NUMBER else index[0]]
    is_number = np.isfinite(x) | ((x == -np.inf) & (function in OF_EXPS))
    if not is_number.all():
        return None
    with mp.workprec(BITS):
        if function in OF_NUMBER:
            return ExactValue(OF_NUMBER[function](mp.mpf(float(x))), f"x = {float(x)!r}")
        row = [mp.mpf(number) for number in x.tolist()]
        if function in OF_ROW:
            return ExactValue(OF_ROW[function](row), _show(x))
        return ExactValue(OF_PLACE[function](row, index[1]), f"{_show(x)}, element {index[1]},")


def _show(row: NDArray[np.float64]) -> str:
    """A row in words: its numbers, or its length and what it repeats."""
    if len(row) <= MOST_SHOWN:
        return f"x = {row.tolist()}"
    numbers, counts = np.unique(row, return_counts=True)
    if len(numbers) <= MOST_SHOWN:
        return (
            f"x with {', '.join(f'{count} times {one!r}' for one, count in zip(numbers.tolist(), counts, strict=True))}"
        )
    return f"x of {len(row)} numbers from {float(numbers[0])!r} to {float(numbers[-1])!r}"
