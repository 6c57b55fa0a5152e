"""A kernel bound to one case and one launch: every number that its claim leaves open, worked out once.

Knows jobs and accuracies; never how a claim is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kfuzz.devices import Job
from kfuzz.oracle.rounding import Accuracy


@dataclass(frozen=True)
class Bound:
    """What a device is handed (`job`), and by which accuracy its answer is judged.

    `axes` are what the shapes of the case mean for the kernel; `sizes` are axes, tune and let together.
    """

    axes: Mapping[str, int]
    sizes: Mapping[str, int]
    accuracy: Accuracy
    job: Job
