"""Sums of products of 8 bits as wgmma makes them: terms and sums are cut, toward zero, to 13 and 14 bits.

Knows one product of matrices at a time. docs/numerics.md#twins
"""

from collections.abc import Callable
from math import ceil

import torch

from kfuzz.oracle.numbers.tensor_cores import WGMMA_FP8

Multiply = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
DENORMAL = 8.0
"""The least normal number of e4m3 is 8 times its least number; that of e5m2 is 4 times its own."""
GROUP = 32
"""Numbers along k that share a scale in every format that has scales."""


def lost_in_sums(
    a: torch.Tensor, b: torch.Tensor, count: int, axes: tuple[int, int] | None, multiply: Multiply
) -> torch.Tensor:
    """What a sum of `count` products of sizes `a` and `b` may lose. `axes`: those that are summed, if each is one.

    A term is cut below the largest exponent of a step, and so is the sum that comes in; the sum itself keeps 14 digits.
    A denormal factor has the exponent of the least normal number of its type, whatever scale the reference has
    multiplied in.
    """
    size = multiply(*(with_exponents(one, axes and axes[place]) for place, one in enumerate((a, b))))
    unit, steps = 2.0**-WGMMA_FP8.kept * size, ceil(count / WGMMA_FP8.together)
    return count * unit + steps * (unit + 2.0 ** (1 - WGMMA_FP8.digits) * size)


def with_exponents(one: torch.Tensor, axis: int | None) -> torch.Tensor:
    """Sizes no less than 2 to the exponents that a tensor core sees: a number's own, or the least normal one's."""
    if axis is None or not one.numel():
        return DENORMAL * one
    lines = one.movedim(axis, -1)
    every = torch.nn.functional.pad(lines, (0, -lines.shape[-1] % GROUP)).unflatten(-1, (-1, GROUP))
    least = torch.where(every > 0, every, torch.inf).amin(-1, keepdim=True)
    made = torch.where(every > 0, torch.maximum(every, DENORMAL * least), every)
    return made.flatten(-2)[..., : lines.shape[-1]].movedim(-1, axis)
