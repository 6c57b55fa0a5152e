"""BlockSize of a matrix that share one scale: the reduction over each block, and a block's value at each element.

A block has `height` rows and `width` columns; the last block of a row or column may be smaller. Knows arrays of any
kind, also of balls; knows no claim.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals

BlockSize = tuple[int, int]


def largest_of_blocks(x: Reals, blocks: BlockSize) -> Reals:
    """The maximum of each block of the last two axes."""
    for axis, size in zip((-1, -2), blocks[::-1], strict=True):
        x = _largest_along(x, axis, size)
    return x


def _largest_along(x: Reals, axis: int, size: int) -> Reals:
    length = x.shape[axis]
    if size == 1 or not x.size:
        return x
    if size >= length:
        return np.asarray(np.maximum.reduce(x, axis=axis, keepdims=True))
    if length % size == 0:
        place = x.ndim + axis
        split = x.reshape(*x.shape[:place], length // size, size, *x.shape[place + 1 :])
        return np.asarray(np.maximum.reduce(split, axis=place + 1))
    return np.asarray(np.maximum.reduceat(x, np.arange(0, length, size), axis=axis))


def value_of_block(s: Reals, blocks: BlockSize, shape: tuple[int, ...]) -> Reals:
    """The value of its block at each element of an array of this shape."""
    for axis, size in zip((-1, -2), blocks[::-1], strict=True):
        length = shape[axis]
        if size > 1 and s.shape[axis] > 1:
            s = np.repeat(s, size, axis=axis)
            s = s[..., :length] if axis == -1 else s[..., :length, :]
    return s
