"""fft_conv2d: a convolution by Fourier transforms of the whole images: y = F^-1(sum over channels of F(x) F(w)) + bias.

F is a fast transform of radix 2, 4, 8 or 16 in float32, of lengths below four times what the images need. It is
conv2d in real numbers, and rounds otherwise: each place errs with all of its image. Infinities and NaN spread, so an
image that has some is not judged.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import F32, Reals
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Mask
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.sampling import refuse_balls
from kfuzz.oracle.sets.two_values import not_finite
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity
from kfuzz.oracle.words.sliding import conv

INPUTS = {
    "x": "float32[batch, channels, height, width]", "w": "float32[filters, channels, kernel_h, kernel_w]",
    "bias": "float32[filters]",
}  # fmt: skip
OPTIONAL = {"bias": 0.0}
AXES = {"pad_h": 0, "pad_w": 0}
OUTPUTS = {"y": "float32[batch, filters, height + 2 * pad_h - kernel_h + 1, width + 2 * pad_w - kernel_w + 1]"}
WHERE = ("height + 2 * pad_h >= kernel_h", "width + 2 * pad_w >= kernel_w")
ALSO = {"fft_conv1d": "fft_conv2d(x[batch, channels, width], w[filters, channels, kernel_w], bias[filters])"}
STAGE = 12.0
"""The roundings of one stage, in u of the norm: of a twiddle and of a butterfly. docs/numerics.md#transforms"""
ADDED = F32.u * 1.001
"""The rounding of the bias, and of float64 in it."""
BESIDE = 2
"""Stages of an axis beside the logarithm of its least length: it may be four times as long."""


def formula(N: Exact, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    pads = [(N.size(name), N.size(name)) for name in ("pad_h", "pad_w")]
    return conv(N, x, w, bias, (1, 1), pads, (1, 1), 1, "conv")


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """y give or take what the transforms lose of the norms of a whole image and of its taps."""
    x, w, bias = (asked.inputs[name] for name in ("x", "w", "bias"))
    of_x, of_w = (np.asarray(np.isfinite(one).all(axis=(1, 2, 3))) for one in (x, w))
    known = of_x[:, None] & of_w & np.isfinite(bias)
    x, w, bias = (np.where(np.isfinite(one), one, 0.0) for one in (x, w, bias))
    N = Exact(sizes=asked.sizes)
    want = formula(N, *map(N.input, (x, w, bias))).x
    lengths = [n + 2 * asked.sizes[f"pad_{axis}"] + k - 1
               for axis, n, k in zip("hw", x.shape[2:], w.shape[2:], strict=True)]  # fmt: skip
    stages = sum(int(np.ceil(np.log2(length))) + BESIDE for length in lengths)
    lost = loss(x, w, stages)
    lo, hi = want - lost, want + lost
    lo, hi = lo - ADDED * np.abs(lo), hi + ADDED * np.abs(hi)
    judged = np.broadcast_to((known & (most_of(x, w, stages) < F32.max))[:, :, None, None], want.shape)
    none = np.zeros(want.shape)

    def holds(got: Doubles) -> Mask:
        return np.asarray((got >= lo) & (got <= hi) | ~judged)

    reasons = not_finite(np.asarray(judged))
    return {"y": AnswerSet(Enclosure(want, lo, hi, judged, none, none, refuse_balls, None, reasons, holds=holds))}


def norms(x: Reals, p: int) -> Doubles:
    """The p-norm of each image: [batch or filters, channels]."""
    return np.asarray((np.abs(x) ** p).sum(axis=(2, 3)) ** (1 / p))


def loss(x: Reals, w: Reals, stages: int) -> Doubles:
    """What y may err by, for each image and filter, before the bias is added."""
    each, channels = F32.u * STAGE * stages, x.shape[1]
    of_products = norms(x, 2) @ norms(w, 2).T
    of_y = np.minimum(norms(x, 2) @ norms(w, 1).T, norms(x, 1) @ norms(w, 2).T)
    rounded = (2 * each + F32.u * (channels + 4)) * of_products + each * of_y
    longest = 2.0**stages  # no fewer than the places of a transform
    underflow = 4 * stages * longest * F32.tiny * (norms(x, 1).sum(1)[:, None] + norms(w, 1).sum(1) + channels + 1)
    return np.asarray((rounded * (1 + 2 * each) + underflow) * 1.001)[:, :, None, None]


def most_of(x: Reals, w: Reals, stages: int) -> Doubles:
    """More than the largest number of any transform, of each image and filter."""
    sizes = norms(x, 1) @ norms(w, 1).T + norms(x, 1).sum(1)[:, None] + norms(w, 1).sum(1)
    return np.asarray(sizes * 2.0 ** (stages + 1))
