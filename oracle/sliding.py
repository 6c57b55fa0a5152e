"""Formulas that slide a window over the last three axes: convolutions and pools.

Those of fewer dimensions are the same with places of one. Knows words; it knows no number system.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from kfuzz.oracle.elements import Reals
from kfuzz.oracle.systems.value import ABSENT, Quantity, System

AXES = 3


def sizes_named(N: System, name: str) -> tuple[int, int, int]:
    """A stride, padding or window of each axis."""
    return N.size(f"{name}_d"), N.size(f"{name}_h"), N.size(f"{name}_w")


def convolve(N: System, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    """x [batch, groups, channels, *places] with w [groups, filters, channels, *window]."""
    stride, pad, dilation = (sizes_named(N, name) for name in ("stride", "pad", "dilation"))
    seen = N.windows(x, w.shape[-AXES:], stride, pad, dilation, ABSENT)
    return _filter(N, seen, w, bias)


def convolve_transposed(N: System, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    """x [batch, groups, channels, *places] with w [groups, channels, filters, *window], each x spread over a window."""
    stride, pad, dilation, more = (sizes_named(N, name) for name in ("stride", "pad", "dilation", "output_pad"))
    window = w.shape[-AXES:]
    ends = [step * (n - 1) - one for step, n, one in zip(dilation, window, pad, strict=True)]
    pads = [(end, end + other) for end, other in zip(ends, more, strict=True)]
    apart = N.spread(x, stride, ABSENT)
    seen = N.windows(apart, window, 1, pads, dilation, ABSENT)
    flipped = w[(..., *[slice(None, None, -1)] * AXES)]
    order = (0, 2, 1, *range(3, 3 + AXES))
    return _filter(N, seen, flipped.permuted(order), bias)


def _filter(N: System, seen: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    """Multiply windows [batch, groups, channels, *places, taps] by the filters, as one product of matrices."""
    batch, groups, channels, *places, taps = seen.shape
    filters = w.shape[1]
    order = (0, 1, *range(3, 3 + AXES), 2, 3 + AXES)
    rows = seen.permuted(order).reshaped(batch, groups, prod(places), channels * taps)
    columns = w.reshaped(groups, filters, channels * taps).T
    bias = bias.reshaped(groups, 1, filters)
    if N.form == "sums start at bias":
        made = N.matmul(rows, columns, "conv", (bias,))
    else:
        made = N.matmul(rows, columns, "conv") + bias
    return made.T.reshaped(batch, groups, filters, *places)


def pool_windows(N: System, x: Quantity, fill: float | str) -> Quantity:
    """The windows of a pool, [batch, channels, *places, taps]."""
    window, stride, pad, dilation = (sizes_named(N, name) for name in ("window", "stride", "pad", "dilation"))
    return N.windows(x, window, stride, pad, dilation, ABSENT if fill == ABSENT else float(fill))


def pool_places(N: System, lengths: Sequence[int]) -> Reals:
    """The place in its plane of each tap of each window, in row-major order; -1 for one beyond an end."""
    window, stride, pad, dilation = (sizes_named(N, name) for name in ("window", "stride", "pad", "dilation"))
    places, inside = np.zeros((1,) * (2 * AXES), dtype=np.int64), np.ones((1,) * (2 * AXES), dtype=np.bool_)
    for axis, length in enumerate(lengths):
        count = (length + 2 * pad[axis] - dilation[axis] * (window[axis] - 1) - 1) // stride[axis] + 1
        first = np.arange(count) * stride[axis] - pad[axis]
        here = np.expand_dims(
            first[:, None] + np.arange(window[axis]) * dilation[axis],
            tuple(one for one in range(2 * AXES) if one not in (axis, AXES + axis)),
        )
        places, inside = places * length + here, inside & (here >= 0) & (here < length)
    return np.where(inside, places, -1).reshape(*places.shape[:AXES], -1)


def adaptive_windows(N: System, x: Quantity, fill: float) -> tuple[Quantity, Reals]:
    """The parts of an adaptive pool, [batch, channels, *places, taps], filled to one length; how many taps each has.

    Part i of o parts of n places goes from floor(i n / o) to ceil((i + 1) n / o).
    """
    outs = sizes_named(N, "out")
    index: list[Reals] = []
    inside = np.ones((1,) * (2 * AXES), dtype=np.bool_)
    for axis, (out, n) in enumerate(zip(outs, x.shape[-AXES:], strict=True)):
        first, last = np.arange(out) * n // out, -(-(np.arange(out) + 1) * n // out)
        here = first[:, None] + np.arange(int((last - first).max(initial=1)))
        others = tuple(one for one in range(2 * AXES) if one not in (axis, AXES + axis))
        index.append(np.expand_dims(np.minimum(here, n - 1), others))
        inside = inside & np.expand_dims(here < last[:, None], others)
    seen = N.where(inside, x[(..., *index)], N.input(np.asarray(fill)))
    shape = (*seen.shape[:-AXES], prod(seen.shape[-AXES:]))
    return seen.reshaped(*shape), inside.reshape(*inside.shape[:AXES], -1).sum(axis=-1)
