"""What numpy does to a small array in five times as long as it need: a verdict on a few rows asks eighty times whether
a mask holds anywhere, and stretches thirty arrays that have their shape already.
"""

import numpy as np

from kfuzz.oracle.systems.formats import Reals

SMALL = 1 << 12
"""Elements up to which it is faster to count than to ask numpy for any or all."""


def some(mask: Reals | np.bool_ | float) -> bool:
    """Whether any element is true."""
    of = np.asarray(mask)
    return bool(np.count_nonzero(of)) if of.size < SMALL else bool(of.any())


def every(mask: Reals | np.bool_ | float) -> bool:
    """Whether no element is false."""
    of = np.asarray(mask)
    return bool(np.count_nonzero(of) == of.size) if of.size < SMALL else bool(of.all())


def stretched(x: Reals, shape: tuple[int, ...]) -> Reals:
    """The array in a shape that it can be broadcast to."""
    return x if x.shape == shape else np.broadcast_to(x, shape)


def common(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of these can be broadcast to."""
    return shapes[0] if all(shape == shapes[0] for shape in shapes[1:]) else np.broadcast_shapes(*shapes)
