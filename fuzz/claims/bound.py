"""A kernel bound to one case and one launch: every number that its claim leaves open, computed once.

Knows jobs and accuracies; never how a claim is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Job
from kfuzz.oracle.accuracy.rounding import Accuracy


@dataclass(frozen=True)
class Bound:
    """The job for a device, and the accuracy by which its answer is judged.

    `axes` are the kernel's axes at the shapes of the case; `sizes` are axes, tune and let together, `scalars` the
    constants of the op, and the sizes that no array gives it. `given`: the inputs as the kernel stores them.
    """

    axes: Mapping[str, int]
    sizes: Mapping[str, int]
    accuracy: Accuracy
    scalars: Mapping[str, float | str]
    job: Job
    given: Mapping[str, NDArray[np.generic]]
