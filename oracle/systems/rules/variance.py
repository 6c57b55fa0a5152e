"""The mean and the variance, by the claimed form: rules R7 and R8 of docs/formulas.md."""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.room import NO_OVERFLOW, OPERATIONS_128
from kfuzz.oracle.systems.rules.growth import accumulator, growth
from kfuzz.oracle.systems.rules.moments import divide_by_count, moments_of, open_odd_rows
from kfuzz.oracle.systems.rules.opening import ORDER_DECIDES, open_where
from kfuzz.oracle.systems.rules.total import dot_of, mean_of
from kfuzz.oracle.systems.rules.welford import welford
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def mean_var(N: BandSystem, x: Quantity, names: tuple[str, str], correction: int) -> tuple[Quantity, Quantity]:
    """The mean and the variance of the last axis, by the claimed form: two pass, welford or moments (R8)."""
    n = x.shape[-1]
    if N.form.startswith("welford"):
        mean, squares = welford(N, x, names)
    elif N.form.startswith("moments"):
        mean = mean_of(N, x, names[0])
        second = dot_of(N, x, x, names[1])
        spread = N.sub(divide_by_count(N, second, n), N.mul(mean, mean))
        return mean, spread if not correction else N.mul(
            spread, N.number(n / (n - correction) if n > correction else INF)
        )
    else:
        mean = mean_of(N, x, names[0])
        squares = two_pass(N, x, mean, names[1])
    variance = divide_by_count(N, squares, n - correction)
    variance.name = names[1]
    return mean, variance


def two_pass(N: BandSystem, x: Quantity, mean: Quantity, name: str) -> Quantity:
    """R7: sum (x_j - m)^2 = sum (x_j - mean)^2 + n (mean - m)^2, so the mean's error enters squared, and only once.

    Precondition: x is an input, and m its own computed mean; otherwise the plain rule applies. The step remembers the
    greatest sum for an m that becomes better known; it does not for an f64 sum, whose m is not the stored mean.
    """
    if not N.is_point(x):
        off = N.sub(x, mean)
        return dot_of(N, off, off, name)
    n = x.shape[-1]
    with np.errstate(all="ignore"):
        moments = moments_of(N, x)
        middle, wrong, least, most, odd = moments.middle, moments.wrong, moments.least, moments.most, moments.odd
        away = np.maximum(np.abs(mean.hi - middle), np.abs(mean.lo - middle)) + wrong
        near = np.maximum(np.maximum(mean.lo - middle, middle - mean.hi) - wrong, 0.0)
        grown = growth(N, name, n, products=1)
        up = N.E.exp_above(grown.most + 2 * N.u * (1 + N.u))  # a rounded difference is off by u, squared by 2 u

        def at_most(away: Reals) -> Reals:
            return np.asarray(((most + n * away * away) * up + grown.lost) * OPERATIONS_128)

        def known(lo: Reals, hi: Reals) -> Reals:
            return at_most(np.maximum(np.abs(hi - middle), np.abs(lo - middle)) + wrong)

        lo = np.maximum((least + n * near * near) / up - grown.lost, 0.0) * (2 - OPERATIONS_128)
        hi = at_most(away)
        over = (hi >= accumulator(N, name).max * NO_OVERFLOW) & ~odd
        nan = np.zeros(lo.shape, dtype=np.bool_)
    how = ("sum", x) if grown.is_cast else ("squares", mean, known)
    made = open_where(N, lo, hi, nan, over, ORDER_DECIDES, *how)
    return open_odd_rows(
        N, made, odd | np.asarray(~N.E.is_finite(mean.lo) | ~N.E.is_finite(mean.hi), dtype=np.bool_), name
    )
