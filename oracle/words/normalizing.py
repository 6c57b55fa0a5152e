"""Formulas that subtract a mean and divide by a deviation: layer, batch, instance and group norm.

Knows words; it knows no number system.
"""

from kfuzz.oracle.systems.absent import Absent
from kfuzz.oracle.systems.value import Quantity, System


def affine(N: System, x: Quantity, mean: Quantity, r: Quantity, w: Quantity, b: Quantity) -> Quantity:
    """(x - mean) r w + b, in the order that the form says."""
    if "folded" in N.form:
        return x * (r * w) + (b - mean * (r * w))
    if "expanded" in N.form:
        return (x * r - mean * r) * w + b
    return (x - mean) * r * w + b


def per_channel(v: Quantity, x: Quantity) -> Quantity:
    """A number for each channel of x [batch, channels, *places], beside x; one that is left out stays so."""
    return v.reshaped(-1, *(1,) * (len(x.shape) - 2))


def over_places(
    N: System, x: Quantity, first: int, sums: tuple[str, str] = ("mean", "var")
) -> tuple[Quantity, Quantity]:
    """The mean and the variance over the axes from the first one on, with one element along each of these."""
    return N.mean_var(x, sums, axis=tuple(range(first - len(x.shape), 0)))


def over_batch(N: System, x: Quantity, sums: tuple[str, str] = ("mean", "var")) -> tuple[Quantity, Quantity]:
    """The mean and the variance of each channel of x [batch, channels, *places]."""
    many = len(x.shape)
    return N.mean_var(x, sums, axis=(-many, *range(2 - many, 0)))


def in_groups(
    N: System, x: Quantity, groups: int, sums: tuple[str, str] = ("mean", "var")
) -> tuple[Quantity, Quantity]:
    """The mean and the variance of each group of channels of x, each of them once for every channel of its group."""
    batch, channels, *places = x.shape
    apart = x.reshaped(batch, groups, channels // groups, *places)
    mean, var = over_places(N, apart, 2, sums)
    ones = [1] * len(places)

    def for_each(one: Quantity) -> Quantity:
        return one.expanded(batch, groups, channels // groups, *ones).reshaped(batch, channels, *ones)

    return for_each(mean), for_each(var)


def affine_channels(
    N: System, x: Quantity, mean: Quantity, r: Quantity, w: Quantity | None, b: Quantity | None
) -> Quantity:
    """The same with a weight and a bias for each channel, either of which may be left out."""
    weight = Absent(N, 1.0) if w is None else per_channel(w, x)
    return affine(N, x, mean, r, weight, Absent(N, 0.0) if b is None else per_channel(b, x))
