"""The slope of each function of one number, and the largest curvature over an interval: docs/numerics.md#depth."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from kfuzz.oracle.numbers.elements import Reals

Slope = Callable[[Reals, Reals], Reals]
Curvature = Callable[[Reals, Reals], Reals]
LN2, LN10, ROOT_PI = math.log(2), math.log(10), math.sqrt(math.pi)
MOST_OF_TANH, MOST_OF_SIGMOID, MOST_OF_ERF = 0.77, 0.0963, 0.97
"""The largest second derivatives, rounded up: 4 / 3 sqrt(3), sqrt(3) / 18, and sqrt(8 / (pi e))."""


def _power(p: float, factor: float) -> Curvature:
    """factor (x - R)^p, infinite where the tube reaches 0 or below; none where x is exactly known."""

    def curvature(x: Reals, R: Reals) -> Reals:
        least = x - R
        held = factor * np.where(least > 0, least, 1.0) ** p
        return np.where(R == 0, 0.0, np.where(least > 0, held, np.inf))

    return curvature


def _near(x: Reals, R: Reals) -> Reals:
    return np.asarray(np.maximum(np.abs(x) - R, 0.0))


def _of_tanh(x: Reals, R: Reals) -> Reals:
    return np.asarray(np.minimum(MOST_OF_TANH, 2 * (1 - np.tanh(_near(x, R)) ** 2)))


def _of_erf(x: Reals, R: Reals) -> Reals:
    return np.asarray(np.minimum(MOST_OF_ERF, 4 / ROOT_PI * (np.abs(x) + R) * np.exp(-(_near(x, R) ** 2))))


def sigmoid(x: Reals) -> Reals:
    """1 / (1 + e^-x), without an overflow."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


SLOPES: Mapping[str, tuple[Slope, Curvature]] = {
    "exp": (lambda x, y: y, lambda x, R: np.exp(x + R)),
    "exp2": (lambda x, y: y * LN2, lambda x, R: np.exp2(x + R) * LN2**2),
    "expm1": (lambda x, y: y + 1, lambda x, R: np.exp(x + R)),
    "log": (lambda x, y: 1 / x, _power(-2, 1.0)),
    "log2": (lambda x, y: 1 / (x * LN2), _power(-2, 1 / LN2)),
    "log10": (lambda x, y: 1 / (x * LN10), _power(-2, 1 / LN10)),
    "log1p": (lambda x, y: 1 / (1 + x), lambda x, R: _power(-2, 1.0)(1 + x, R)),
    "sqrt": (lambda x, y: np.where(y > 0, 0.5 / np.where(y > 0, y, 1.0), 0.0), _power(-1.5, 0.25)),
    "rsqrt": (lambda x, y: -0.5 * y / x, _power(-2.5, 0.75)),
    "tanh": (lambda x, y: 1 - y * y, _of_tanh),
    "sigmoid": (lambda x, y: y * (1 - y), lambda x, R: np.full(x.shape, MOST_OF_SIGMOID)),
    "erf": (lambda x, y: 2 / ROOT_PI * np.exp(-x * x), _of_erf),
    "erfc": (lambda x, y: -2 / ROOT_PI * np.exp(-x * x), _of_erf),
    "sin": (lambda x, y: np.cos(x), lambda x, R: np.ones(x.shape)),
    "cos": (lambda x, y: -np.sin(x), lambda x, R: np.ones(x.shape)),
}
"""By a function: its derivative from the argument and the value; a bound of its second derivative over x +- R."""
