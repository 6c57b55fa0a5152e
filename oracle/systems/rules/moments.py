"""The exact mean and sum of squared deviations of a row, and their division by its length."""

from dataclasses import dataclass

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.ends import SUM_DEPTH, sum_pairwise
from kfuzz.oracle.systems.room import BALL_SUM, OPERATIONS_128, OPERATIONS_4096
from kfuzz.oracle.systems.rules.division import divide
from kfuzz.oracle.systems.rules.opening import open_where
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


NO_NUMBER = Reason(Why.NO_RULE)


@dataclass(frozen=True)
class Moments:
    """The exact mean and its error; the least and the greatest sum (x - mean)^2; the largest deviation."""

    middle: Reals
    wrong: Reals
    least: Reals
    most: Reals
    spread: Reals
    odd: Reals


def moments_of(N: BandSystem, x: Quantity) -> Moments:
    """The moments of the numbers in a set, and which rows are odd: not finite everywhere.

    If x is a box of radii r, the mean moves by at most their mean, and the root of the sum of squares, which is the
    length of a projection of x, by at most their length.
    """
    finite = np.asarray(N.E.is_finite(x.lo) & N.E.is_finite(x.hi) & ~np.asarray(x.nan), dtype=np.bool_)
    odd = np.asarray(~finite.all(axis=-1, keepdims=True))
    lo, hi = (np.where(odd, 0.0, end) for end in (x.lo, x.hi)) if any_of(odd) else (x.lo, x.hi)
    points = lo if N.is_point(x) else (lo + hi) / 2
    middle, wrong, least, most = moments_of_points(N, points)
    spread = np.abs(points - middle).max(axis=-1, keepdims=True, initial=0.0) + wrong
    if not N.is_point(x):
        radii = np.maximum(hi - points, points - lo) * OPERATIONS_128
        length = root_above(N, sum_pairwise(radii * radii) * OPERATIONS_4096)
        root = N.E.function("sqrt", least, least)[0]
        least = np.maximum(root - length, 0.0) * np.maximum(root - length, 0.0) * (2 - OPERATIONS_128)
        root = root_above(N, most) + length
        most = root * root * OPERATIONS_128
        wrong = wrong + sum_pairwise(radii) / x.shape[-1] * OPERATIONS_4096
        spread = spread + 2 * radii.max(axis=-1, keepdims=True, initial=0.0)
    return Moments(middle, wrong, least, most, spread, odd)


def moments_of_points(N: BandSystem, points: Reals) -> tuple[Reals, Reals, Reals, Reals]:
    """The mean of numbers, its error, and the least and the greatest sum (x - mean)^2."""
    n = points.shape[-1]
    first = sum_pairwise(points) / n
    off = points - first
    middle = first + sum_pairwise(off) / n
    off = points - middle
    eps = float(N.E.eps) or BALL_SUM
    wrong = np.abs(middle) * eps + np.abs(off).max(axis=-1, keepdims=True, initial=0.0) * (8 + min(n, SUM_DEPTH)) * eps
    squares = sum_pairwise(off * off)
    rest = squares * ((min(n, SUM_DEPTH) + 8) * 4 * eps) + n * wrong * wrong
    return middle, wrong, np.maximum(squares - rest, 0.0), squares + rest


def root_above(N: BandSystem, a: Reals) -> Reals:
    a = np.asarray(a)
    return N.E.function("sqrt", a, a)[1]


def open_odd_rows(N: BandSystem, a: Quantity, odd: Reals, name: str) -> Quantity:
    """R17: open the sets of rows that contain an infinity or NaN; a certain NaN stays NaN."""
    made = open_where(N, a.lo, a.hi, a.nan, odd & ~np.asarray(a.lo == -INF, dtype=np.bool_), NO_NUMBER, *a.how)
    made.name = name
    return made


def divide_by_count(N: BandSystem, a: Quantity, n: int) -> Quantity:
    """The set of a / n, or of a (1 / n)."""
    if n <= 0:
        return divide(N, a, N.number(float(n)), 1)
    return N.widen(a.lo / n, a.hi / n, a.nan, 0.0 if n & (n - 1) == 0 else 2.0, 2 * N.tiny, "divided by n", a, n)
