"""What functions of libraries are by their definition, in mpmath: a second opinion on an accusation.

It shares nothing with the oracle. Each function has a row here by its name; its argument is one number, two, or a row
of them, exactly as the library got it.
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
SELU, SELU_SCALE = "1.6732632423543772", "1.0507009873554805"


def _sigmoid(x: Any) -> Any:  # noqa: ANN401  mpmath has no static types
    return 1 / (1 + mp.exp(-x))


def _softplus(x: Any) -> Any:  # noqa: ANN401  as above
    return mp.log1p(mp.exp(x))


def _normal(x: Any) -> Any:  # noqa: ANN401  as above
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _mish(x: Any) -> Any:  # noqa: ANN401  as above
    return x * mp.tanh(_softplus(x))


def _elu(x: Any) -> Any:  # noqa: ANN401  as above
    return x if x > 0 else mp.expm1(x)


def _within(x: Any) -> Any:  # noqa: ANN401  as above
    return min(max(x + 3, mp.mpf(0)), mp.mpf(6)) / 6


def _gelu_tanh(x: Any) -> Any:  # noqa: ANN401  as above
    return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)))


def _slope_of_mish(x: Any) -> Any:  # noqa: ANN401  as above
    t = mp.tanh(_softplus(x))
    return t + x * _sigmoid(x) * (1 - t * t)


OF_NUMBER: dict[str, Callable[[Any], Any]] = {
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "softplus": _softplus,
    "logsigmoid": lambda x: -_softplus(-x),
    "soft_margin": lambda x: _softplus(-x),
    "gelu": lambda x: x * _normal(x),
    "gelu_tanh": _gelu_tanh,
    "ndtr": _normal,
    "mish": _mish,
    "elu": _elu,
    "celu": _elu,
    "selu": lambda x: mp.mpf(SELU_SCALE) * (x if x > 0 else mp.mpf(SELU) * mp.expm1(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "hardsigmoid": _within,
    "hardswish": lambda x: x * _within(x),
    "tanh": mp.tanh,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "asinh": mp.asinh,
    "atanh": mp.atanh,
    "logit": lambda x: mp.log(x) - mp.log1p(-x),
    "log_cosh": lambda x: mp.log(mp.cosh(x)),
    "entr": lambda x: -x * mp.log(x) if x else x,
    "sinc": mp.sincpi,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10,
    "log1p": mp.log1p,
    "sqrt": mp.sqrt,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "slope_of_sigmoid": lambda x: _sigmoid(x) * _sigmoid(-x),
    "slope_of_tanh": lambda x: 1 / mp.cosh(x) ** 2,
    "slope_of_silu": lambda x: _sigmoid(x) * (1 + x * _sigmoid(-x)),
    "slope_of_softplus": _sigmoid,
    "slope_of_logsigmoid": lambda x: _sigmoid(-x),
    "slope_of_mish": _slope_of_mish,
}
"""Functions of one number, element by element."""


def _huber(x: Any, t: Any) -> Any:  # noqa: ANN401  as above
    d = abs(x - t)
    return d * d / 2 if d <= 1 else d - mp.mpf(1) / 2


OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "logaddexp": lambda x, t: max(x, t) + mp.log1p(mp.exp(-abs(x - t))),
    "hypot": lambda x, t: mp.sqrt(x * x + t * t),
    "bce_with_logits": lambda x, t: (1 - t) * x + _softplus(-x),
    "squared_error": lambda x, t: (x - t) ** 2,
    "half_squared_error": lambda x, t: (x - t) ** 2 / 2,
    "huber": _huber,
    "xlogy": lambda x, t: x * mp.log(t) if x else x,
    "swiglu": lambda x, t: x * _sigmoid(x) * t,
    "swiglu_of_one_more": lambda x, t: x * _sigmoid(x) * (t + 1),
    "geglu": lambda x, t: x * _normal(x) * t,
    "geglu_tanh": lambda x, t: _gelu_tanh(x) * t,
}
"""Functions of two numbers, element by element."""


def _sum_of(function: Callable[[Any], Any], row: Numbers) -> Any:  # noqa: ANN401  as above
    """The sum of a function's values, each computed once for all elements that are equal."""
    counts: dict[Any, int] = {}
    for x in row:
        counts[x] = counts.get(x, 0) + 1
    return mp.fsum(count * function(x) for x, count in counts.items())


def _mean(row: Numbers) -> Any:  # noqa: ANN401  as above
    return mp.fsum(row) / len(row)


def _variance(row: Numbers) -> Any:  # noqa: ANN401  as above
    mean = _mean(row)
    return _sum_of(lambda x: (x - mean) ** 2, row) / len(row)


def _logsumexp(row: Numbers) -> Any:  # noqa: ANN401  as above
    return mp.log(_sum_of(mp.exp, row))


def _squares(row: Numbers) -> Any:  # noqa: ANN401  as above
    return _sum_of(lambda x: x * x, row)


OF_ROW: dict[str, Callable[[Numbers], Any]] = {
    "logsumexp": _logsumexp,
    "log_mean_exp": lambda row: _logsumexp(row) - mp.log(len(row)),
    "l2_norm": lambda row: mp.sqrt(_squares(row)),
    "squares": _squares,
    "mean": _mean,
    "variance": _variance,
    "std": lambda row: mp.sqrt(_variance(row)),
    "row_sum": mp.fsum,
    "product": mp.fprod,
}
"""Functions of a row that give one number."""


def _layer_norm(row: Numbers, at: int) -> Any:  # noqa: ANN401  as above
    return (row[at] - _mean(row)) / mp.sqrt(_variance(row) + mp.mpf("1e-5"))


OF_PLACE: dict[str, Callable[[Numbers, int], Any]] = {
    "softmax": lambda row, at: mp.exp(row[at]) / _sum_of(mp.exp, row),
    "log_softmax": lambda row, at: row[at] - _logsumexp(row),
    "prefix_sum": lambda row, at: mp.fsum(row[: at + 1]),
    "layer_norm": _layer_norm,
    "rms_norm": lambda row, at: row[at] / mp.sqrt(_squares(row) / len(row) + mp.mpf("1e-6")),
    "normalize": lambda row, at: row[at] / max(mp.sqrt(_squares(row)), mp.mpf("1e-12")),
    "unit": lambda row, at: row[at] / mp.sqrt(_squares(row)) if any(row) else row[at],
    "zscore": lambda row, at: (row[at] - _mean(row)) / mp.sqrt(_variance(row)),
}
"""Functions of a row that give a row, at one place of it."""


def _cosine(x: Numbers, t: Numbers) -> Any:  # noqa: ANN401  as above
    return mp.fdot(x, t) / mp.sqrt(_squares(x) * _squares(t))


OF_TWO_ROWS: dict[str, Callable[[Numbers, Numbers], Any]] = {
    "cosine": _cosine,
    "dot": mp.fdot,
    "linear": mp.fdot,
    "distance": lambda x, t: mp.sqrt(mp.fsum((a - b) ** 2 for a, b in zip(x, t, strict=True))),
    "squared_distance": lambda x, t: mp.fsum((a - b) ** 2 for a, b in zip(x, t, strict=True)),
}
"""Functions of two rows that give one number."""


def _slope_of_softmax(row: Numbers, g: Numbers, at: int) -> Any:  # noqa: ANN401  as above
    y = [mp.exp(x - _logsumexp(row)) for x in row]
    return y[at] * (g[at] - mp.fdot(y, g))


GRADIENTS: dict[str, Callable[[Numbers, Numbers, int], Any]] = {
    "softmax": _slope_of_softmax,
    "log_softmax": lambda row, g, at: g[at] - mp.exp(row[at] - _logsumexp(row)) * mp.fsum(g),
    "logsumexp": lambda row, g, at: g[0] * mp.exp(row[at] - _logsumexp(row)),
    "l2_norm": lambda row, g, at: g[0] * row[at] / mp.sqrt(_squares(row)),
}
"""Gradients of functions of rows, by those of their answers, at one place."""

OF_EXPS = ("logsumexp", "softmax", "log_softmax", "cross_entropy", "log_mean_exp")
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
    is_of_number = function in (OF_NUMBER if len(inputs) == 1 else OF_TWO)
    column = function == "batch_norm"
    place = index if is_of_number else (slice(None), index[1]) if column else index[0]
    places = index if function == "linear" else [place] * len(inputs)
    taken = {name: np.asarray(inputs[name][at]) for name, at in zip(inputs, places, strict=True)}
    x, *others = taken.values()
    is_number = np.isfinite(x) | ((x == -np.inf) & (function in OF_EXPS))
    if not is_number.all() or not all(np.isfinite(one).all() for one in others):
        return None
    given = ", ".join(f"{name} {_show(numbers)}" for name, numbers in taken.items())
    at = index[0] if column else index[-1]
    where = "" if len(index) == 1 or is_of_number else f", element {at}"
    found = []
    for bits in (BITS, 2 * BITS):
        with mp.workprec(bits):
            try:
                number = _value(function, _numbers(x), [_numbers(one) for one in others], at)
            except (ZeroDivisionError, ValueError):
                return None
            if number is None or not mp.isfinite(number) or isinstance(number, mp.mpc):
                return None
            found.append(number)
    return ExactValue(_unless_it_is_an_error(*found), f"{given}{where}")


def _unless_it_is_an_error(number: Any, with_more_bits: Any) -> Any:  # noqa: ANN401  as above
    """A number, or 0 where more bits give another: then terms cancel, as in y (g - sum of y g) where all g are 1."""
    with mp.workprec(2 * BITS):
        return number if abs(number - with_more_bits) <= abs(number) * mp.mpf(10) ** -DIGITS else mp.mpf(0)


def _value(function: str, x: Any, others: list[Any], at: int) -> Any:  # noqa: ANN401  as above
    """The value of a function; None if it has no row here."""
    if not isinstance(x, list):
        return OF_TWO[function](x, *others) if others else OF_NUMBER[function](x)
    if function == "cross_entropy":
        return _logsumexp(x) - x[int(others[0])]
    if function == "batch_norm":
        return _layer_norm(x, at)
    if not others:
        if function in OF_ROW:
            return OF_ROW[function](x)
        return OF_PLACE[function](x, at) if function in OF_PLACE else None
    if function in GRADIENTS:
        return GRADIENTS[function](x, others[0] if isinstance(others[0], list) else others, at)
    return OF_TWO_ROWS[function](x, others[0]) if function in OF_TWO_ROWS else None


def _numbers(array: NDArray[np.float64]) -> Any:  # noqa: ANN401  as above
    """A number, or a row of them, as mpmath's."""
    if array.ndim:
        return [mp.mpf(number) for number in array.tolist()]
    return mp.mpf(float(array))


def _show(row: NDArray[np.float64]) -> str:
    """A number or a row in words: its numbers, or its length and what it repeats."""
    if row.size <= MOST_SHOWN:
        return f"= {row.tolist()}"
    numbers, counts = np.unique(row, return_counts=True)
    if len(numbers) <= MOST_SHOWN:
        return (
            f"with {', '.join(f'{count} times {one!r}' for one, count in zip(numbers.tolist(), counts, strict=True))}"
        )
    return f"of {len(row)} numbers from {float(numbers[0])!r} to {float(numbers[-1])!r}"
