"""Right answers as sets that an op's file gives: with the claim's scalars, and for draws with probabilities.

Such a file has `sets` instead of `answers`. Knows no op and no distribution.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure
from kfuzz.oracle.numbers.evidence import Chances
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.shapes import Lengths

Categories = NDArray[np.int64]
"""For each element of an answer the category that it is; -1 for none."""


@dataclass(frozen=True)
class Asked:
    """One case under one claim. `stored`: the type of each output, `given`: of each input of floats. `written`: the
    numbers of each output as written.
    """

    inputs: Mapping[str, Reals]
    scalars: Mapping[str, float]
    sizes: Lengths
    accuracy: Accuracy
    special: Special
    stored: Mapping[str, Element] = field(default_factory=dict)
    written: Mapping[str, Reals] = field(default_factory=dict)
    given: Mapping[str, Element] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerSet:
    """The right answers of one output.

    `enclosure`: the answers that may come at all. `chances`, of an output that is drawn: for each of its elements, in
    the order of memory, the probabilities of its categories. `categorize`: which category each element of an answer is.
    """

    enclosure: Enclosure
    chances: Callable[[], Chances] | None = None
    categorize: Callable[[Doubles], Categories] | None = None


AnswerSets = Callable[[Asked], dict[str, AnswerSet]]
"""An op's `sets(asked)`: the right answers of each of its outputs."""
