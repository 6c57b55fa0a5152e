"""Formulas of gradients that kernels work out from saved values. Knows words; it knows no number system."""

import math
from collections.abc import Sequence
from typing import Any

from kfuzz.oracle.systems.value import Quantity, System


def total(N: Any, parts: Sequence[Quantity], name: str) -> Quantity:  # noqa: ANN401  any system
    """The sum of several arrays of one shape, in any order."""
    if len(parts) < 3:
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]
    made: Quantity = N.sum(N.join(*(one[..., None] for one in parts)), name)
    return made[..., 0]


def through_norm(
    N: System, x: Quantity, mean: Quantity | None, r: Quantity, g: Quantity, axes: tuple[int, ...]
) -> tuple[Quantity, Quantity]:
    """The gradient by x of n = (x - mean) r, where mean and r are those of x along some axes; and n itself.

    g is the gradient by n. The result is r (g - mean(g) - n mean(g n)); without a mean, where r is 1 / sqrt(mean x^2),
    it has no mean(g). The means may be sums until the end, or all is expanded into r g + b x + c.
    """
    count = N.number(float(math.prod(x.shape[axis] for axis in axes)))
    n = x * r if mean is None else (x - mean) * r
    if N.form == "expanded":
        with_x, cube = N.dot(g, x, "g n", axes), r * r * r
        if mean is None:
            return r * g - with_x * cube / count * x, n
        alone = N.sum(g, "g", axes)
        b = (alone * mean - with_x) * cube / count
        c = -(b * mean) - alone * r / count
        return total(N, [r * g, b * x, c.expanded(*x.shape)], "dx"), n
    with_n, alone = N.dot(g, n, "g n", axes), N.sum(g, "g", axes)
    if N.form == "sums":
        g, r = g * count, r / count
    else:
        with_n, alone = with_n / count, alone / count
    parts = [g, -(n * with_n), *([] if mean is None else [(-alone).expanded(*x.shape)])]
    return total(N, parts, "dx") * r, n
