"""The protocol between the search and the devices that run kernels.

A device is given a `Job`, where every size is a number, and a `Probe`, and returns an `Outcome`. It knows nothing of
claims, cases or the right answer.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from kfuzz.common.errors import (
    ClaimError,
    DeviceError,
    MissingError,
    NeedsGpuError,
    OtherLibraryError,
    OutOfMemory,
    OutOfTimeError,
    TogetherError,
    UnexpectedError,
    UnsupportedError,
    wrap_unexpected,
)
from kfuzz.devices.jobs import (
    TEXT,
    Buffer,
    Call,
    DrawnWeights,
    Entry,
    HandedInputs,
    Job,
    Link,
    MakerOfInputs,
    PythonCall,
    Step,
    TensorMap,
    VastPart,
    called_first,
    is_host,
)
from kfuzz.devices.outcomes import Circumstances, Decoy, Finding, Outcome, Refusal, Run, Untried
from kfuzz.devices.probes import Probe
from kfuzz.devices.runners import CALLER, LAUNCHER, Runner
from kfuzz.devices.value_texts import (
    GIVEN,
    MAKER,
    as_identifier,
    fields_of,
    has_maker,
    inside,
    is_literal,
    names_together,
    value_with,
    with_fields,
    with_values,
)

__all__ = [
    "CALLER",
    "GIVEN",
    "LAUNCHER",
    "MAKER",
    "TEXT",
    "Ahead",
    "Buffer",
    "Call",
    "Circumstances",
    "ClaimError",
    "Decoy",
    "Device",
    "DeviceError",
    "DrawnWeights",
    "Entry",
    "Finding",
    "HandedInputs",
    "Job",
    "Link",
    "Locating",
    "MakerOfInputs",
    "MissingError",
    "NeedsGpuError",
    "OfParts",
    "OtherLibraryError",
    "OutOfMemory",
    "OutOfTimeError",
    "Outcome",
    "Preparing",
    "Probe",
    "PythonCall",
    "Refusal",
    "Run",
    "Runner",
    "Starting",
    "Step",
    "TensorMap",
    "Together",
    "TogetherError",
    "UnexpectedError",
    "UnsupportedError",
    "Untried",
    "VastPart",
    "as_identifier",
    "called_first",
    "fields_of",
    "has_maker",
    "inside",
    "is_host",
    "is_literal",
    "names_together",
    "value_with",
    "with_fields",
    "with_values",
    "wrap_unexpected",
]


class Device(Protocol):
    """Runs jobs. A device is passed in, never looked up."""

    name: str

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job to its end or to its time-out; raise only ClaimError or DeviceError."""

    def close(self) -> None:
        """End the workers. A closed device is not used again."""


@runtime_checkable
class Locating(Device, Protocol):
    """A device that may know which line stored an element."""

    def find_store(self, job: Job, probe: Probe, array: str, index: int) -> tuple[str, int] | None:
        """The header, or nothing for the kernel file, and the line that stored an element; None if it cannot tell."""


@runtime_checkable
class Together(Device, Protocol):
    """A device that runs several jobs in less time than one after another."""

    def run_all(self, jobs: Sequence[tuple[Job, Probe]]) -> list[Callable[[], Outcome]]:
        """Run jobs; for each a function that returns its outcome, or raises its error, as `run` would."""


@runtime_checkable
class Preparing(Device, Protocol):
    """A device that can begin before its first job."""

    def import_early(self, entries: Sequence[Entry]) -> None:
        """Begin to import what jobs with these entries need, for all devices of a campaign; do not wait."""

    def prepare(self, entries: Sequence[Entry]) -> None:
        """Start a process that a job with these entries will need, and wait until it can run one."""


@runtime_checkable
class Starting(Device, Protocol):
    """A device that takes long to start."""

    def start(self) -> None:
        """Start what runs jobs, and wait until it can."""


@runtime_checkable
class OfParts(Device, Protocol):
    """A device with a part for each kind of job."""

    def part(self, runner: Runner) -> Device:
        """The device that runs the jobs of this runner; it is opened now if it was not before."""


@runtime_checkable
class Ahead(Device, Protocol):
    """A device that accepts jobs ahead, and runs the next one while its caller judges the last."""

    def ask(self, job: Job, probe: Probe) -> None:
        """Queue a job; raise nothing."""

    def answer(self) -> Outcome:
        """Return the outcome of the oldest queued job, as `run` would; `run` itself may be called in between."""

    def forget(self) -> None:
        """Drop all queued jobs."""
