"""Words that move elements and round nothing: windows over an array, padding at its ends, zeros between its elements.

They are the same in every number system: a system gives only the numbers that fill the places beyond an end. Knows how
elements lie; it knows no arithmetic.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, Protocol

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import ABSENT, Filler, Pads, PerAxis, Quantity


class Filling(Protocol):
    """The one thing that a move asks of a system."""

    def input(self, x: Reals) -> Quantity: ...


class MoveWords:
    """The words of this file, for a system to inherit."""

    def windows(
        self: Filling, a: Quantity, size: PerAxis, stride: PerAxis = 1, pad: int | Pads = 0, dilation: PerAxis = 1,
        fill: Filler = 0.0,
    ) -> Quantity:  # fmt: skip
        return windows(self, a, size, stride, pad, dilation, fill)

    def padded(self: Filling, a: Quantity, pads: Pads, fill: Filler = 0.0) -> Quantity:
        return padded(self, a, pads, fill)

    def spread(self: Filling, a: Quantity, strides: Sequence[int], fill: Filler = 0.0) -> Quantity:
        return spread(self, a, strides, fill)


def windows(
    N: Filling, a: Quantity, size: PerAxis, stride: PerAxis = 1, pad: int | Pads = 0, dilation: PerAxis = 1,
    fill: Filler = 0.0,
) -> Quantity:  # fmt: skip
    """[..., *places, taps]: for every place of a window of this size on the last axes, the elements that it holds."""
    sizes = (size,) if isinstance(size, int) else tuple(size)
    count = len(sizes)
    strides, dilations = (_for_each(one, count) for one in (stride, dilation))
    wide = padded(N, a, (pad,) * count if isinstance(pad, int) else pad, fill)
    reach = tuple(step * (n - 1) + 1 for step, n in zip(dilations, sizes, strict=True))
    lead = len(wide.shape) - count
    places = tuple(
        max(0, (n - over) // step + 1) for n, over, step in zip(wide.shape[lead:], reach, strides, strict=True)
    )
    shape = (*wide.shape[:lead], *places, prod(sizes))
    if not prod(places):
        return wide.viewed(lambda part: part.reshape(-1)[:0].reshape(shape))
    steps: tuple[Any, ...] = (..., *(slice(None, None, step) for step in (*strides, *dilations)))

    def slide(part: Reals) -> Reals:
        seen = np.lib.stride_tricks.sliding_window_view(part, reach, axis=tuple(range(lead, part.ndim)))
        return np.asarray(seen[steps].reshape(shape))

    return wide.viewed(slide)


def padded(N: Filling, a: Quantity, pads: Pads, fill: Filler = 0.0) -> Quantity:
    """The last axes with so many more elements before and after each; a negative number takes elements away."""
    pairs = [(one, one) if isinstance(one, int) else tuple(one) for one in pads]
    if not any(any(pair) for pair in pairs):
        return a
    lead = len(a.shape) - len(pairs)
    shape = (*a.shape[:lead], *(n + sum(pair) for n, pair in zip(a.shape[lead:], pairs, strict=True)))
    inside, whole = [slice(None)] * lead, [slice(None)] * lead
    for n, (before, after) in zip(a.shape[lead:], pairs, strict=True):
        inside.append(slice(max(0, before), max(0, before) + n + min(0, before) + min(0, after)))
        whole.append(slice(max(0, -before), n + min(0, after)))
    return _placed(N, a[tuple(whole)], shape, tuple(inside), fill)


def spread(N: Filling, a: Quantity, strides: Sequence[int], fill: Filler = 0.0) -> Quantity:
    """The last axes with each element followed by stride - 1 others, except the last."""
    lead = len(a.shape) - len(strides)
    lengths = [max(0, (n - 1) * step + 1) for n, step in zip(a.shape[lead:], strides, strict=True)]
    inside = (*[slice(None)] * lead, *(slice(None, None, step) for step in strides))
    return _placed(N, a, (*a.shape[:lead], *lengths), inside, fill)


def _placed(N: Filling, a: Quantity, shape: tuple[int, ...], inside: tuple[slice, ...], fill: Filler) -> Quantity:
    """The elements at their places in a larger array; elsewhere there is a number, or nothing that has to be added."""
    others = N.input(np.asarray(0.0 if fill == ABSENT else fill, dtype=np.float64))

    def put(part: Reals, number: Reals) -> Reals:
        made = np.empty(shape, dtype=part.dtype)
        made[...] = number
        made[inside] = part
        return made

    numbers = others.parts[-len(a.distinct_parts) :]  # the number's two ends are one
    pairs = zip(a.distinct_parts, numbers, strict=True)
    made = a.like([put(np.broadcast_to(part, a.shape), number) for part, number in pairs], ("part", a))
    if fill == ABSENT or a.absent is not None:
        absent = np.full(shape, fill == ABSENT)
        absent[inside] = False if a.absent is None else a.absent
        made.absent = absent
    return made


def _for_each(one: PerAxis, count: int) -> tuple[int, ...]:
    return (one,) * count if isinstance(one, int) else tuple(one)
