"""winograd_conv2d: a convolution of images with windows of 3 x 3 by Winograd's F(4 x 4, 3 x 3), in tiles of 6 x 6.

y = A^T ((G w G^T) (B^T x B)) A + bias, tile by tile, with one product for each of 36 places, summed over the channels.
It is conv2d in real numbers, and rounds otherwise: a place of a tile errs with all of the tile. Infinities and NaN
spread over a tile, so they are not judged.

A kernel may transform along rows or along columns first. What cancels in one order does not in the other, so each
transform is one sum over the whole tile here. Claim the additions of both passes, and one more for the product of the
second pass.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "x": "float[batch, channels, height, width]", "w": "float[filters, channels, 3, 3]", "bias": "float[filters]",
}  # fmt: skip
OPTIONAL = {"bias": 0.0}
AXES = {"pad": 0}
OUTPUTS = {"y": "float[batch, filters, height + 2 * pad - 2, width + 2 * pad - 2]"}
WHERE = ("height + 2 * pad >= 3", "width + 2 * pad >= 3")
TILE, MADE = 6, 4
OF_X = np.array([
    [4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0], [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0],
    [0, 4, 0, -5, 0, 1],
])  # fmt: skip
OF_W = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]])
OF_PARTS = (24.0, 12.0, 2.0)
"""The taps' transform is multiplied by 24, so that its numbers are whole: two passes, by 576. Where a kernel divides in
each pass, underflow takes up to a half of what it takes in the last one before that: the second pass has weights of at
most 12/24. So the division by 576 is in three steps, of which the last but one counts half.
"""
OF_Y = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])


def formula(N: System, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    pad, (batch, channels, *_), filters = N.size("pad"), x.shape, w.shape[0]
    outs = [n + 2 * pad - 2 for n in x.shape[2:]]
    down, across = (-(-n // MADE) for n in outs)
    pads = [(pad, MADE * tiles + 2 - n - pad) for tiles, n in zip((down, across), x.shape[2:], strict=True)]
    seen = N.windows(x, (TILE, TILE), (MADE, MADE), pads).reshaped(batch, channels, down * across, TILE * TILE)
    tiles = transformed(N, seen, OF_X, "x")
    taps = transformed(N, w.reshaped(filters, channels, 9), OF_W, "w")
    for part in OF_PARTS:
        taps = taps / part
    made = N.matmul(tiles.permuted((0, 3, 2, 1)), taps.permuted((2, 1, 0)), "conv")
    y = transformed(N, made.permuted((0, 3, 2, 1)), OF_Y, "y").reshaped(batch, filters, down, across, MADE, MADE)
    y = y.permuted((0, 1, 2, 4, 3, 5)).reshaped(batch, filters, MADE * down, MADE * across)
    return y[:, :, : outs[0], : outs[1]] + bias.reshaped(-1, 1, 1)


def transformed(N: System, a: Quantity, by: Reals, name: str) -> Quantity:
    """M a M^T for the tiles that lie in the last axis."""
    return N.matmul(a, N.input(np.kron(by, by).T.astype(np.float64)), name)
