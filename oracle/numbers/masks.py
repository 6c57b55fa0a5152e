"""Whether any or all of a mask is true.

`np.any` goes through several functions of Python first, which for a small array takes eight times as long as its work,
and a trial asks a hundred times.
"""

import numpy as np
from numpy.typing import ArrayLike


def any_of(mask: ArrayLike) -> bool:
    """Whether any element is true."""
    return bool(np.count_nonzero(mask))


def all_of(mask: ArrayLike) -> bool:
    """Whether every element is true."""
    return bool(np.count_nonzero(mask) == np.size(mask))
