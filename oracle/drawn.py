"""Answers that are drawn: the set that may come at all, and the bounds of each category's probability.

An op that draws has `draws` instead of `answers`. Knows no op and no distribution.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.elements import Element, Reals
from kfuzz.oracle.enclosure import Doubles, Enclosure
from kfuzz.oracle.evidence import Chances
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.shapes import Lengths
from kfuzz.oracle.verdict import Special

Categories = NDArray[np.int64]
"""For each element of an answer the category that it is; -1 for none."""


@dataclass(frozen=True)
class Asked:
    """One case under one claim, as an op that draws is asked for it; `stored` has the type of each output."""

    inputs: Mapping[str, Reals]
    scalars: Mapping[str, float]
    sizes: Lengths
    accuracy: Accuracy
    special: Special
    stored: Mapping[str, Element] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawn:
    """One output that is drawn.

    `enclosure`: the answers that may come at all. `chances`: for each element of the output, in the order of memory,
    the probabilities of its categories; None if given uniform numbers decide. `categorize`: which category each element
    of an answer is.
    """

    enclosure: Enclosure
    chances: Callable[[], Chances] | None
    categorize: Callable[[Doubles], Categories]


Draws = Callable[[Asked], dict[str, Drawn]]
"""An op's `draws(asked)`: what is drawn for each of its outputs."""
