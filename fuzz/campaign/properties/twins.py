"""Compares the answer of a job with that of a twin: another job, part of whose answer must have the same bits.

A kernel whose answers vary by themselves says nothing about its twin: a difference counts only if both answers come
again each time. Knows jobs and bits; it does not know what a twin is for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kfuzz.campaign.properties.property import Examined, NamedOutputs, Twin
from kfuzz.devices import ClaimError, DeviceError, Finding, Job, Outcome, Probe
from kfuzz.devices.memory.comparing import bits
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.elements import BY_DTYPE, values

TURNS = 16
"""How often both jobs run again before a difference counts. If the answers of a kernel vary by themselves, the first
has to come 16 times again from one job and never from the other: whatever its probability p, p^16 (1 - p)^16 <= 2^-32.
"""


class Agreement(Enum):
    """How two answers compare."""

    SAME = "the same bits"
    DIFFERENT = "different bits, each time"
    VARYING = "one of them varies by itself"
    NOT_RUN = "one of them has no answer"


@dataclass(frozen=True)
class TwinComparison:
    """How the answers of a job and its twin compare, and the first element in which they differ."""

    agreement: Agreement
    output: str = ""
    index: tuple[int, ...] = ()
    left: str = ""
    right: str = ""
    outcome: Outcome = field(default_factory=Outcome)
    """Of the twin's first run."""

    @property
    def place(self) -> str:
        """`y[0, 3]`."""
        return f"{self.output}[{', '.join(map(str, self.index))}]"


def compare_twin(trial: Examined, twin: Twin) -> TwinComparison:
    """Compare a trial's job with its twin."""
    return next(compare_each(trial, [twin]))


def compare_each(trial: Examined, twins: Sequence[Twin]) -> Iterator[TwinComparison]:
    """Compare a trial's job with each of its twins. All twins run together, before the first is compared: a GPU that
    several processes share makes each of them wait for its turn.
    """
    for twin, outcome in zip(twins, run_together(trial, [one.job for one in twins]), strict=True):
        yield _compare(trial, twin, outcome)


def _compare(trial: Examined, twin: Twin, second: Outcome) -> TwinComparison:
    """Compare with a twin that has run, and run both again as often as it takes to be sure of a difference.

    If the trial itself has given the twin's bits, these are an answer of the job, and it need not run again.
    """
    if second.runs and not has_error(second) and trial.outcome.runs and not has_error(trial.outcome):
        known = twin.own(trial.outcome.runs[0].outputs)
        if first_difference(known, twin.others(second.runs[0].outputs)) is None:
            return TwinComparison(Agreement.SAME, outcome=second)
    own, others = (replace(one, earlier=()) for one in (trial.bound.job, twin.job))
    first = run_once(trial, own)
    if not (first.runs and second.runs) or has_error(first) or has_error(second):
        return TwinComparison(Agreement.NOT_RUN, outcome=second)
    left, right = twin.own(first.runs[0].outputs), twin.others(second.runs[0].outputs)
    found = first_difference(left, right)
    if found is None:
        return TwinComparison(Agreement.SAME, outcome=second)
    for _ in range(TURNS):
        for job, part, known in ((own, twin.own, left), (others, twin.others, right)):
            again = run_once(trial, job)
            if not again.runs or first_difference(known, part(again.runs[0].outputs)) is not None:
                return TwinComparison(Agreement.VARYING, outcome=second)
    return replace(found, outcome=second)


def run_once(trial: Examined, job: Job) -> Outcome:
    """One unchecked run of a job, in the manner that the trial's seed gives; no run if the device cannot."""
    return _outcome_of(lambda: trial.run_job(job, once(trial.probe)))


def run_together(trial: Examined, jobs: Sequence[Job]) -> list[Outcome]:
    """One such run of each job, without its earlier calls."""
    alone = [(replace(job, earlier=()) if job.earlier else job, once(trial.probe)) for job in jobs]
    if trial.run_jobs is None:
        return [_outcome_of(partial(trial.run_job, *one)) for one in alone]
    return [_outcome_of(one) for one in trial.run_jobs(alone)]


def once(probe: Probe) -> Probe:
    """The probe of one unchecked run, in a trial with this probe."""
    return replace(probe, check=False, runs=1, options=(), after_calls=False)


def _outcome_of(run: Callable[[], Outcome]) -> Outcome:
    try:
        return run()
    except (ClaimError, DeviceError):
        return Outcome()


def has_error(outcome: Outcome) -> bool:
    """Whether the device has found an error."""
    return any(one.severity == "error" for one in outcome.findings)


def first_difference(left: NamedOutputs, right: NamedOutputs) -> TwinComparison | None:
    """The first element in which two answers differ; a NaN is the same as any other NaN."""
    for name, one in left.items():
        other = right[name]
        if one is other:
            continue
        where = difference_of(one, other)
        if where.any():
            index = int(np.flatnonzero(where)[0])
            place = tuple(map(int, np.unravel_index(index, one.shape)))
            return TwinComparison(
                Agreement.DIFFERENT, name, place, element_text(one, index), element_text(other, index)
            )
    return None


def difference_of(one: NDArray[np.generic], other: NDArray[np.generic]) -> NDArray[np.bool_]:
    """A mask of the elements that differ, in the order of memory."""
    left, right = (bits(np.ascontiguousarray(each)) for each in (one, other))
    where = np.asarray(left != right, np.bool_)
    element = BY_DTYPE.get(one.dtype)
    if where.any() and element is not None and element.is_float:
        where &= ~(np.isnan(values(one)) & np.isnan(values(other))).reshape(-1)
    return where


def element_text(array: NDArray[np.generic], index: int) -> str:
    """One element, as a number and in bits."""
    flat = np.ascontiguousarray(array).reshape(-1)[index : index + 1]
    word = int(bits(flat)[0])
    return f"{float(values(flat)[0]):.9g} (0x{word:0{2 * flat.dtype.itemsize}x})"


def finding_of(kind: Kind, comparison: TwinComparison, words: str) -> Finding:
    """A finding that names the element and what it is in both answers."""
    message = f"{comparison.place} is {comparison.left}, and {comparison.right} {words}"
    return Finding(kind, message, array=comparison.output)
