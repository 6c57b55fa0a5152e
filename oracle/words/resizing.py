"""Formulas that change the size of an image: the nearest place, and a line between two places.

Place i of `outs` places lies at i n / outs of n places. A kernel works this out with two roundings, so where it is near
an integer either side is right. Knows words; it knows no number system.
"""

from collections.abc import Sequence

import numpy as np

from kfuzz.oracle.numbers.elements import F32, Reals
from kfuzz.oracle.systems.value import Quantity, System

ROUNDINGS = 3
"""A quotient of sizes, its product with a place, and one for their second order."""


def nearest(N: System, x: Quantity, outs: Sequence[int]) -> Quantity:
    """x [..., *places] at other sizes of its last axes: each element that of the nearest place below."""
    for axis, out in zip(range(-len(outs), 0), outs, strict=True):
        low, high = nearest_places(x.shape[axis], out)
        if np.array_equal(low, high):
            x = along(x, low, axis)
            continue
        both, at = np.concatenate([low, high]), np.concatenate([np.arange(out)] * 2)
        values = along(x, both, axis)
        at = at.reshape(-1, *(1,) * (-axis - 1))
        x = N.scatter(along(x, high, axis), at, values, "any", "nearest", axis)
    return x


def nearest_places(n: int, out: int) -> tuple[Reals, Reals]:
    """For each of `out` places the least and the greatest place of n that a kernel may take for it."""
    exact = np.arange(out) * n
    part = int(np.gcd(n, out))
    is_sure = is_power_of_two(out // part) and is_power_of_two(n // part)  # by n / out, or by 1 / (out / n)
    off = 0.0 if is_sure else ROUNDINGS * F32.u
    low, high = (np.floor(exact * (1 + side * off) / out) for side in (-1, 1))
    return low.astype(np.int64), np.minimum(high, n - 1).astype(np.int64)


def is_power_of_two(number: int) -> bool:
    """Whether a quotient with this divisor, and its products, are exact."""
    return number & (number - 1) == 0


def quotient(N: System, n: int, out: int) -> Quantity:
    """n / out, exactly where a float32 holds it."""
    return N.number(n / out) if is_power_of_two(out // int(np.gcd(n, out))) else N.number(n) / N.number(out)


def along(x: Quantity, places: Reals, axis: int) -> Quantity:
    """The elements at these places of one axis, which is counted from the end."""
    return x[(..., places, *(slice(None),) * (-axis - 1))]


def linear(N: System, x: Quantity, outs: Sequence[int], align_corners: bool) -> Quantity:
    """x [..., *places] at other sizes of its last axes: between two places, the line through their elements.

    Place i lies at (i + 0.5) n / out - 0.5, and no lower than 0; or, with aligned corners, at i (n - 1) / (out - 1).
    A place errs by some u of itself, and so does its part of the line; beyond an integer the line is the next one.
    """
    for axis, out in zip(range(-len(outs), 0), outs, strict=True):
        n, i = x.shape[axis], np.arange(out, dtype=np.float64)
        if align_corners:
            at = N.input(i) * quotient(N, max(n - 1, 0), max(out - 1, 1))
            middle = i * ((n - 1) / (out - 1) if out > 1 else 0.0)
        else:
            at = N.maximum(N.input(i + 0.5) * quotient(N, n, out) - 0.5, 0.0)
            middle = np.maximum((i + 0.5) * (n / out) - 0.5, 0.0)
        made = None
        first = np.floor(middle)
        for step in (-1, 0, 1, 2):
            place = first + step
            share = N.maximum(1.0 - abs(at - N.input(place)), 0.0)
            share = N.where((place >= 0) & (place < n + 1), share, 0.0)
            share = share.reshaped(-1, *(1,) * (-axis - 1))
            term = share * along(x, np.clip(place, 0, n - 1).astype(np.int64), axis)
            made = term if made is None else made + term
        assert made is not None
        x = made
    return x
