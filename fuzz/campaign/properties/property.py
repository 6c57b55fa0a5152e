"""A property that users rely on, a trial that may show whether it holds, and what a look at the trial says.

Knows kernels, cases and outcomes; it does not know what a right answer is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.case import Case
from kfuzz.claims.bound import Bound
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Finding, Job, Outcome, Probe

RunJob = Callable[[Job, Probe], Outcome]
"""Runs a job on the device of the trial."""
RunJobs = Callable[[Sequence[tuple[Job, Probe]]], Sequence[Callable[[], Outcome]]]
"""Runs several jobs there, and returns a function for each that returns its outcome or raises its error."""
NamedOutputs = Mapping[str, NDArray[np.generic]]
"""Outputs by the name of their buffer, or by their role."""
TakePart = Callable[[NamedOutputs], NamedOutputs]
"""Takes the part of an answer that must be the same, in the same order for both jobs."""


class Planned(Protocol):
    """A trial before it runs."""

    @property
    def kernel(self) -> Kernel: ...
    @property
    def case(self) -> Case: ...
    @property
    def tune(self) -> Mapping[str, int]: ...
    @property
    def probe(self) -> Probe: ...
    @property
    def bound(self) -> Bound: ...


@dataclass(frozen=True)
class Twin:
    """Another job, and the parts of both answers that must have the same bits. `words`: how it differs."""

    job: Job
    own: TakePart
    others: TakePart
    words: str = ""


@dataclass(frozen=True)
class Examined:
    """A trial whose answers are judged.

    `is_right`: no answer is wrong and the device has found no error. `judge` says whether an answer to a case of
    the same sizes is right.
    """

    kernel: Kernel
    case: Case
    tune: Mapping[str, int]
    probe: Probe
    bound: Bound
    outcome: Outcome
    is_right: bool
    run_job: RunJob
    judge: Callable[[Case, NamedOutputs], bool]
    device: str
    """The name of the device of the trial."""
    other_sizes: Callable[[], tuple[Job, ...]]
    """Makes calls of other sizes, with the values of this one: smaller, larger, and with other values."""
    run_jobs: RunJobs | None = None
    """None if the device runs jobs only one after another."""
    twins: Mapping[str, Sequence[Twin]] = field(default_factory=dict)
    """By property, the twins that the device was asked for together with the trial's own job."""


@dataclass(frozen=True)
class Look:
    """What one trial says of one property. `finding` says how it fails: an error if the property is claimed, a warning
    if callers expect it all the same, else a number in the report."""

    name: str
    finding: Finding | None = None

    @property
    def is_held(self) -> bool:
        """Whether the trial shows no failure."""
        return self.finding is None


class Property(Protocol):
    """A module of fuzz/campaign/properties/checks; the name of its file is the property's name."""

    WORDS: str
    """Its name for people."""

    @staticmethod
    def is_claimed(kernel: Kernel) -> bool:
        """Whether its failure is an error."""

    @staticmethod
    def why_untested(kernel: Kernel) -> str:
        """Why no trial of this kernel can show it; empty if trials can."""

    @staticmethod
    def look(trial: Examined) -> Finding | bool | None:
        """How it fails in this trial; True if it holds there; None if the trial does not show it."""


@runtime_checkable
class Expected(Protocol):
    """A property that callers expect of a function that does not claim it: its failure is a warning then."""

    @staticmethod
    def is_expected(kernel: Kernel) -> bool:
        """Whether a failure is a warning although the property is not claimed."""


@runtime_checkable
class Foreseeing(Protocol):
    """A property whose twins follow from the trial before it runs, so that they can run together with it."""

    @staticmethod
    def foresee(trial: Planned) -> Sequence[Twin]:
        """The twins with which the trial is compared if its answers are right."""
