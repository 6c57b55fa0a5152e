"""Formulas that slide a window over the last axes: convolutions and pools.

An op of the catalogue has three such axes; those of fewer dimensions are the same with places of one. A
user's own formula has any number of them. Knows words; it knows no number system.
"""

from collections.abc import Sequence
from math import gcd, prod

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems.value import ABSENT, Pads, Quantity, System

AXES = 3
POOL_AXES = {
    "window_d": 1, "window_h": 1, "window_w": 2,
    "stride_d": "window_d", "stride_h": "window_h", "stride_w": "window_w",
    "pad_d": 0, "pad_h": 0, "pad_w": 0,
    "dilation_d": 1, "dilation_h": 1, "dilation_w": 1,
}  # fmt: skip
POOLED = (
    "[batch, channels, "
    "(depth + 2 * pad_d - dilation_d * (window_d - 1) - 1) // stride_d + 1, "
    "(height + 2 * pad_h - dilation_h * (window_h - 1) - 1) // stride_h + 1, "
    "(width + 2 * pad_w - dilation_w * (window_w - 1) - 1) // stride_w + 1]"
)
"""The shape of what a pool answers."""
POOL_WHERE = (
    "depth + 2 * pad_d > dilation_d * (window_d - 1)", "2 * pad_d <= window_d",
    "height + 2 * pad_h > dilation_h * (window_h - 1)", "2 * pad_h <= window_h",
    "width + 2 * pad_w > dilation_w * (window_w - 1)", "2 * pad_w <= window_w",
)  # fmt: skip


def sizes_named(N: System, name: str) -> tuple[int, int, int]:
    """A stride, padding or window of each axis."""
    return N.size(f"{name}_d"), N.size(f"{name}_h"), N.size(f"{name}_w")


def convolve(N: System, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    """x [batch, groups, channels, *places] with w [groups, filters, channels, *window]."""
    stride, pad, dilation = (sizes_named(N, name) for name in ("stride", "pad", "dilation"))
    return _filter(N, N.windows(x, w.shape[-AXES:], stride, pad, dilation, ABSENT), w, bias, "conv")


def convolve_transposed(N: System, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    """x [batch, groups, channels, *places] with w [groups, channels, filters, *window], each x spread over a window."""
    stride, pad, dilation, more = (sizes_named(N, name) for name in ("stride", "pad", "dilation", "output_pad"))
    return _spread_and_filter(N, x, w, bias, stride, pad, dilation, more, "conv")


def conv(
    N: System, x: Quantity, w: Quantity, bias: Quantity | None, stride: Sequence[int], pad: Pads,
    dilation: Sequence[int], groups: int, sum: str,
) -> Quantity:  # fmt: skip
    """The convolution of torch: x [batch, channels, *places] with w [filters, channels / groups, *window]."""
    filters, channels, *window = w.shape
    split = w.reshaped(groups, filters // groups, channels, *window)
    seen = N.windows(_in_groups(x, groups), window, stride, pad, dilation, ABSENT)
    made = _filter(N, seen, split, bias, sum)
    return made.reshaped(made.shape[0], filters, *made.shape[3:])


def conv_transposed(
    N: System, x: Quantity, w: Quantity, bias: Quantity | None, stride: Sequence[int], pad: Sequence[int],
    dilation: Sequence[int], output_pad: Sequence[int], groups: int, sum: str,
) -> Quantity:  # fmt: skip
    """The transposed convolution of torch: x [batch, channels, ...] with w [channels, filters / groups, *window]."""
    channels, filters, *window = w.shape
    split = w.reshaped(groups, channels // groups, filters, *window)
    made = _spread_and_filter(N, _in_groups(x, groups), split, bias, stride, pad, dilation, output_pad, sum)
    return made.reshaped(made.shape[0], groups * filters, *made.shape[3:])


def _in_groups(x: Quantity, groups: int) -> Quantity:
    return x.reshaped(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def _spread_and_filter(
    N: System, x: Quantity, w: Quantity, bias: Quantity | None, stride: Sequence[int], pad: Sequence[int],
    dilation: Sequence[int], more: Sequence[int], sum: str,
) -> Quantity:  # fmt: skip
    count = len(stride)
    if made := _filter_by_phases(N, x, w, bias, stride, pad, dilation, more, sum):
        return made
    window = w.shape[-count:]
    ends = [step * (n - 1) - one for step, n, one in zip(dilation, window, pad, strict=True)]
    pads = [(end, end + other) for end, other in zip(ends, more, strict=True)]
    apart = N.spread(x, stride, ABSENT)
    seen = N.windows(apart, window, 1, pads, dilation, ABSENT)
    flipped = w[(..., *[slice(None, None, -1)] * count)]
    return _filter(N, seen, flipped.permuted((0, 2, 1, *range(3, 3 + count))), bias, sum)


def _filter_by_phases(
    N: System, x: Quantity, w: Quantity, bias: Quantity | None, stride: Sequence[int], pad: Sequence[int],
    dilation: Sequence[int], more: Sequence[int], sum: str,
) -> Quantity | None:  # fmt: skip
    """The same without a product by a zero between: each remainder of a place by the stride meets taps of its own.

    None where that is no gain, where a remainder has no tap, and where the zeros count: beside a weight that is
    infinite or NaN, and if a claim says in which order all terms are added.
    """
    count = len(stride)
    window, lengths = w.shape[-count:], x.shape[-count:]
    taps = [
        [range(first, n, step // gcd(step, d)) for first in _first_taps(n, step, d)]
        for n, step, d in zip(window, stride, dilation, strict=True)
    ]
    empty = any(not len(some) for axis in taps for some in axis)
    if prod(stride) == 1 or empty or N.counts_absent or not (is_finite(x) and is_finite(w)):
        return None
    spans = [(n - 1) * step + d * (k - 1) + 1 + other  # places before the padding is cut off
             for n, step, d, k, other in zip(lengths, stride, dilation, window, more, strict=True)]  # fmt: skip
    many = [-(-span // step) for span, step in zip(spans, stride, strict=True)]

    def filtered(phase: tuple[int, ...]) -> Quantity:
        some = [axis[place] for axis, place in zip(taps, phase, strict=True)]
        apart = [d // gcd(step, d) for step, d in zip(stride, dilation, strict=True)]
        lags = [(d * one[0] - place) // step for one, place, step, d in zip(some, phase, stride, dilation, strict=True)]
        ends = [lag + step * (len(one) - 1) for lag, step, one in zip(lags, apart, some, strict=True)]
        pads = [(end, out - n - lag) for end, lag, out, n in zip(ends, lags, many, lengths, strict=True)]
        seen = N.windows(x, [len(one) for one in some], 1, pads, apart, ABSENT)
        own = w[(..., *(slice(one[0], one[-1] + 1, one.step) for one in some))][(..., *[slice(None, None, -1)] * count)]
        return _filter(N, seen, own.permuted((0, 2, 1, *range(3, 3 + count))), bias, sum)

    def joined(phase: tuple[int, ...]) -> Quantity:
        """All phases of the axes that follow these, side by side."""
        axis = len(phase)
        if axis == count:
            return filtered(phase)
        at = 4 + axis
        every = [joined((*phase, place)) for place in range(stride[axis])]
        shape = every[0].shape
        side = [one.reshaped(*shape[:at], 1, *shape[at:]) for one in every]
        made = N.join(*side, axis=at - len(shape) - 1)
        return made.reshaped(*shape[: at - 1], shape[at - 1] * stride[axis], *shape[at:])

    inside = (slice(one, span - one) for one, span in zip(pad, spans, strict=True))
    return joined(())[(..., *inside)]


def _first_taps(window: int, stride: int, dilation: int) -> list[int]:
    """For each remainder by the stride the first tap whose place has it; the window's length if none has."""
    remainders = [tap * dilation % stride for tap in range(window)]
    return [remainders.index(one) if one in remainders else window for one in range(stride)]


def is_finite(a: Quantity) -> bool:
    """Whether none of the numbers, of any system, may be infinite or NaN."""
    with np.errstate(invalid="ignore"):
        return all(not any_of(part) if part.dtype == bool else all_of(part - part == 0) for part in a.parts)


def _filter(N: System, seen: Quantity, w: Quantity, bias: Quantity | None, sum: str) -> Quantity:
    """Multiply windows [batch, groups, channels, *places, taps] by the filters, as one product of matrices.

    In a formula without the two forms, the sums start at the bias, which may be added in any order.
    """
    batch, groups, channels, *places, taps = seen.shape
    filters, last = w.shape[1], len(seen.shape) - 1
    rows = seen.permuted((0, 1, *range(3, last), 2, last)).reshaped(batch, groups, prod(places), channels * taps)
    columns = w.reshaped(groups, filters, channels * taps).T
    start = None if bias is None else bias.reshaped(groups, 1, filters)
    if start is not None and N.form == "bias last":
        made = N.matmul(rows, columns, sum) + start
    else:
        made = N.matmul(rows, columns, sum, () if start is None else (start,))
    return made.T.reshaped(batch, groups, filters, *places)


def pool(
    N: System, x: Quantity, fill: float | str, window: Sequence[int], stride: Sequence[int], pad: Sequence[int],
    dilation: Sequence[int], ceil: bool = False,
) -> tuple[Quantity, Reals]:  # fmt: skip
    """The windows of a pool of torch, [..., *places, taps]; how many taps of each lie on the array or its padding.

    With `ceil` a last window may reach beyond the padding; it begins before the right padding does.
    """
    count = len(window)
    lengths, pads, inside = x.shape[-count:], [], np.ones((1,) * count)
    for axis, n in enumerate(lengths):
        span = n + 2 * pad[axis] - dilation[axis] * (window[axis] - 1) - 1
        outs = span // stride[axis] + 1
        if ceil:
            outs = -(-span // stride[axis]) + 1
            outs -= (outs - 1) * stride[axis] >= n + pad[axis]
        pads.append((pad[axis], pad[axis] + max(0, (outs - 1) * stride[axis] - span)))
        last = np.arange(outs)[:, None] * stride[axis] + np.arange(window[axis]) * dilation[axis]
        here = (last < n + 2 * pad[axis]).sum(axis=1)
        inside = inside * np.expand_dims(here, tuple(one for one in range(count) if one != axis))
    return N.windows(x, window, stride, pads, dilation, ABSENT if fill == ABSENT else float(fill)), inside


def pool_names(
    lengths: Sequence[int], window: Sequence[int], stride: Sequence[int], pad: Sequence[int], dilation: Sequence[int]
) -> Reals:
    """The place in its plane of each tap of each window, in row-major order; -1 for one beyond an end."""
    count = len(window)
    places, inside = np.zeros((1,) * (2 * count), dtype=np.int64), np.ones((1,) * (2 * count), dtype=np.bool_)
    for axis, length in enumerate(lengths):
        outs = (length + 2 * pad[axis] - dilation[axis] * (window[axis] - 1) - 1) // stride[axis] + 1
        first = np.arange(outs) * stride[axis] - pad[axis]
        here = np.expand_dims(
            first[:, None] + np.arange(window[axis]) * dilation[axis],
            tuple(one for one in range(2 * count) if one not in (axis, count + axis)),
        )
        places, inside = places * length + here, inside & (here >= 0) & (here < length)
    return np.where(inside, places, -1).reshape(*places.shape[:count], -1)


def pool_windows(N: System, x: Quantity, fill: float | str) -> Quantity:
    """The windows of a pool, [batch, channels, *places, taps]."""
    window, stride, pad, dilation = (sizes_named(N, name) for name in ("window", "stride", "pad", "dilation"))
    return N.windows(x, window, stride, pad, dilation, ABSENT if fill == ABSENT else float(fill))


def pool_places(N: System, lengths: Sequence[int]) -> Reals:
    """The place in its plane of each tap of each window, in row-major order; -1 for one beyond an end."""
    window, stride, pad, dilation = (sizes_named(N, name) for name in ("window", "stride", "pad", "dilation"))
    return pool_names(lengths, window, stride, pad, dilation)


def adaptive_windows(N: System, x: Quantity, fill: float) -> tuple[Quantity, Reals]:
    """The parts of an adaptive pool of `out` parts along each axis."""
    return adaptive_parts(N, x, fill, sizes_named(N, "out"))


def adaptive_places(lengths: Sequence[int], outs: Sequence[int]) -> Reals:
    """The place in its plane of each tap of each part, in row-major order; -1 for one beyond the part."""
    count = len(outs)
    index, inside = _parts(lengths, outs)
    places = np.zeros((1,) * (2 * count), dtype=np.int64)
    for here, length in zip(index, lengths, strict=True):
        places = places * length + here
    return np.where(inside, places, -1).reshape(*inside.shape[:count], -1)


def _parts(lengths: Sequence[int], outs: Sequence[int]) -> tuple[list[Reals], Reals]:
    """For each axis the place of each tap of each part, and which taps are inside of their part."""
    count = len(outs)
    index: list[Reals] = []
    inside: Reals = np.ones((1,) * (2 * count), dtype=np.bool_)
    for axis, (out, n) in enumerate(zip(outs, lengths, strict=True)):
        first, last = np.arange(out) * n // out, -(-(np.arange(out) + 1) * n // out)
        here = first[:, None] + np.arange(int((last - first).max(initial=1)))
        others = tuple(one for one in range(2 * count) if one not in (axis, count + axis))
        index.append(np.expand_dims(np.minimum(here, n - 1), others))
        inside = inside & np.expand_dims(here < last[:, None], others)
    return index, inside


def adaptive_parts(N: System, x: Quantity, fill: float, outs: Sequence[int]) -> tuple[Quantity, Reals]:
    """The parts of an adaptive pool, [..., *places, taps], filled to one length; how many taps each has.

    Part i of o parts of n places goes from floor(i n / o) to ceil((i + 1) n / o).
    """
    count = len(outs)
    index, inside = _parts(x.shape[-count:], outs)
    seen = N.where(inside, x[(..., *index)], N.input(np.asarray(fill)))
    shape = (*seen.shape[:-count], prod(seen.shape[-count:]))
    return seen.reshaped(*shape), inside.reshape(*inside.shape[:count], -1).sum(axis=-1)
