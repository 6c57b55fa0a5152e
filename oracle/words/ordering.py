"""The elements of an axis in their order, by words that every number system has.

Knows words; it knows no number system.
"""

import numpy as np

from kfuzz.oracle.systems.value import Quantity, System


def in_order(N: System, x: Quantity) -> Quantity:
    """The elements of the last axis, the least first: a bitonic network of minima and maxima, which rounds nothing.

    The network compares elements at places that differ in one bit of their number, so it works on a power of two.
    """
    length = x.shape[-1]
    many = 1 << max(length - 1, 0).bit_length()
    x = N.padded(x, [(0, many - length)], N.inf)
    places = np.arange(many)
    run = 2
    while run <= many:
        step = run // 2
        while step:
            other = x[..., places ^ step]
            is_least = (places & step == 0) == (places & run == 0)
            x = N.where(is_least, N.minimum(x, other), N.maximum(x, other))
            step //= 2
        run *= 2
    return x[..., :length]
