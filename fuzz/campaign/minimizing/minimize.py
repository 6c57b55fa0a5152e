"""Minimizes a failing trial: it runs the trial again for every step, and the bucket stays the same.

    smaller = minimize(failure, device)

Passes propose and the device decides. The result is deterministic and a fixpoint, unless the search is interrupted or
out of runs or time: then it is the smallest so far. Knows trials and passes; never how a case is stored or shown.
"""

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, Protocol, cast

from kfuzz.campaign.minimizing import passes
from kfuzz.campaign.minimizing.subject import Candidates, Subject, subject_of
from kfuzz.campaign.trials.compiled import options_for
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.locating import locate
from kfuzz.campaign.trials.replay import launches_to_try
from kfuzz.campaign.trials.trial import Trial, run_trial, unfit
from kfuzz.cases.case import Origin, Record
from kfuzz.cases.plans.choose import seed_of
from kfuzz.claims.kernel import Kernel
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import Device, OutOfTimeError, Probe

Stop = Literal["smallest", "out of runs", "out of time", "interrupted"]
MOST_RUNS = 4000
AGAIN, AGAIN_SECONDS = 10, 5.0
"""How often the smallest case is run with another schedule, poison and alignment, and after which time it stops."""
TIMEOUT, HANG_TIMEOUT, SURELY = 5.0, 0.25, 2.5
"""Seconds for a candidate. A hang costs them for every candidate, so it has few; the last candidate gets more."""


class Pass(Protocol):
    """A module of fuzz/campaign/minimizing/passes."""

    WORTH: int

    @staticmethod
    def candidates(subject: Subject) -> Candidates:
        """Yield smaller subjects; receive whether the last one still fails, and continue from it if so."""


@dataclass(frozen=True)
class Failure:
    """A trial that fails, and the defect that every smaller trial must show."""

    subject: Subject
    defect: Defect
    runs: int


@dataclass(frozen=True)
class Minimized:
    """The smallest failing trial.

    `failing` of `again` runs with other schedules, poisons and alignments failed in the same way; if `again` is 0,
    there were no such runs.
    """

    failure: Failure
    stop: Stop
    tried: int
    seconds: float
    failing: int = 0
    again: int = 0


@dataclass
class _Search:
    """The smallest trial so far, and what it takes to judge the next candidate."""

    device: Device
    smallest: Failure
    most_runs: int
    deadline: float
    progress: Callable[[Subject, int], None]
    is_wanted: Callable[[Defect], bool]
    tried: int = 0
    refuted: set[tuple[object, ...]] = field(default_factory=set)

    def accepts(self, candidate: Subject) -> bool:
        """Whether a candidate is smaller, admitted by the claim, and fails in the same way; then it is the smallest."""
        is_heavier = candidate.weight >= self.smallest.subject.weight
        if (is_heavier and not candidate.kernel.roles.structures) or unfit(candidate.kernel, candidate.case):
            return False
        candidate = candidate.arrange_integers().fit_launch()
        if candidate.weight >= self.smallest.subject.weight:
            return False
        key = (candidate.case.digest, *candidate.tune.items(), candidate.check, candidate.seed)
        if key in self.refuted:
            return False
        if self.tried >= self.most_runs:
            raise _Enough("out of runs")
        if time.monotonic() >= self.deadline:
            raise _Enough("out of time")
        self.tried += 1
        defect = find_defect(candidate, self.smallest, self.device)
        if defect is None or not self.is_wanted(defect):
            self.refuted.add(key)
            return False
        self.smallest = replace(self.smallest, subject=point_at_worst(candidate.work_out(), defect), defect=defect)
        self.progress(self.smallest.subject, self.tried)
        return True


class _Enough(Exception):  # noqa: N818  not an error: the search has used its budget
    def __init__(self, why: Stop) -> None:
        self.why = why


def accept_any(defect: Defect) -> bool:
    """Each defect of the bucket will do."""
    return True


def ignore_progress(subject: Subject, tried: int) -> None:
    """A progress callback that does nothing."""


@cache
def all_passes() -> tuple[Pass, ...]:
    """Every pass in the folder, the most worthwhile first."""
    names = (module.name for module in pkgutil.iter_modules(passes.__path__))
    modules = [cast(Pass, importlib.import_module(f"{passes.__name__}.{name}")) for name in names]
    return tuple(sorted(modules, key=lambda each: each.WORTH))


def minimize(
    failure: Failure,
    device: Device,
    most_runs: int = MOST_RUNS,
    max_time: float = 60.0,
    progress: Callable[[Subject, int], None] = ignore_progress,
    again: int = AGAIN,
    is_wanted: Callable[[Defect], bool] = accept_any,
) -> Minimized:
    """Make a failing trial smaller with all passes, as long as its bucket stays the same and the defect is wanted."""
    began = time.monotonic()
    end = min(began + max_time, time_limits().until)
    search = _Search(device, failure, most_runs, end, progress, is_wanted)
    stop: Stop = "smallest"
    failing = tried_again = 0
    try:
        try:
            if not failure.subject.case.is_vast:  # it is simple, and as small as the bug allows
                _run_to_fixpoint(search, all_passes())
        except _Enough as enough:
            stop = enough.why
        if failure.defect.kind == "hang" and find_defect(search.smallest.subject, failure, device, SURELY) is None:
            search.smallest = failure  # it was only slow
        failing, tried_again = count_failures(search.smallest, device, again)
        search.smallest = replace(search.smallest, defect=_locate(search.smallest, device))
    except OutOfTimeError:  # what is found so far counts, but a smaller case that hangs may only be slow
        stop = "out of time"
        search.smallest = failure if failure.defect.kind == "hang" else search.smallest
    except KeyboardInterrupt:
        stop = "interrupted"
    return Minimized(search.smallest, stop, search.tried, time.monotonic() - began, failing, tried_again)


def _locate(failure: Failure, device: Device) -> Defect:
    """The failure's defect with the line that stored the wrong value, if the device can find it."""
    subject = failure.subject
    probe = Probe(subject.check, failure.runs, subject.seed)
    return locate(failure.defect, subject.kernel, subject.case, device, probe)


def _run_to_fixpoint(search: _Search, every: Iterable[Pass]) -> None:
    """Run all passes in turn until none of them makes the trial smaller."""
    before = None
    while before != search.smallest.subject.weight:
        before = search.smallest.subject.weight
        for each in every:
            _run_pass(search, each.candidates(search.smallest.subject))


def _run_pass(search: _Search, candidates: Candidates) -> None:
    accepted = None
    while True:
        try:
            candidate = next(candidates) if accepted is None else candidates.send(accepted)
        except StopIteration:
            return
        accepted = search.accepts(candidate)


def trial_of(
    subject: Subject, runs: int, device: Device, seed: int, timeout: float, options: tuple[object, ...] = ()
) -> Trial:
    probe = Probe(subject.check, runs, seed, timeout, options=options)
    return run_trial(subject.kernel, subject.case, subject.tune, device, probe)


def find_defect(subject: Subject, failure: Failure, device: Device, timeout: float | None = None) -> Defect | None:
    """The defect of the failure's bucket in a run of the subject, if there is one."""
    timeout = timeout or (HANG_TIMEOUT if failure.defect.kind == "hang" else TIMEOUT)
    options = options_for([failure.defect.kind])
    trial = trial_of(subject, failure.runs, device, subject.seed, timeout, options)
    return next((defect for defect in trial.defects if defect.bucket == failure.defect.bucket), None)


def count_failures(failure: Failure, device: Device, again: int = AGAIN) -> tuple[int, int]:
    """How many runs with other schedules, poisons and alignments fail in the same way, and how many there were."""
    began = time.monotonic()
    fails: list[bool] = []
    for number in range(again):
        if fails and time.monotonic() - began > (0 if failure.defect.kind == "hang" else AGAIN_SECONDS):
            break
        subject = replace(failure.subject, seed=seed_of(failure.subject.seed, "again", number))
        fails.append(find_defect(subject, failure, device) is not None)
    return sum(fails), len(fails)


def point_at_worst(subject: Subject, defect: Defect) -> Subject:
    """The subject with the place of the defect's worst element, dimension by dimension."""
    if defect.worst is None:
        return replace(subject, worst={})
    names = subject.kernel.roles.outputs[defect.worst.output]
    return replace(subject, worst=dict(zip(names, defect.worst.index, strict=False)))


def failure_of(record: Record, kernel: Kernel, device: Device) -> Failure | None:
    """The first failing trial of a kept case, in the case's own bucket if there is one, else in any bucket."""
    origin = record.origin
    other: Failure | None = None
    for tune, probes in launches_to_try(record, kernel, AGAIN, TIMEOUT):
        for probe in probes:
            trial = run_trial(kernel, record.case, tune, device, probe)
            for defect in trial.defects:
                wanted = origin is not None and defect.bucket == origin.bucket
                if not wanted and (other is not None or defect.severity != "error"):
                    continue
                subject = subject_of(kernel, record.case, tune, probe.check, probe.seed)
                failure = Failure(point_at_worst(subject, defect), defect, probe.runs)
                if wanted:
                    return failure
                other = failure
    return other


def record_of(minimized: Minimized, device: str) -> Record:
    """The record that the corpus keeps of a minimized failure."""
    subject, defect = minimized.failure.subject, minimized.failure.defect
    origin = Origin(
        kernel=subject.kernel.name,
        bucket=defect.bucket,
        kind=defect.kind,
        message=defect.message,
        device=device,
        tune=subject.tune,
        check=subject.check,
        runs=minimized.failure.runs,
        seed=subject.seed,
        minimized=minimized.stop == "smallest",
        severity=defect.severity,
    )
    return Record(subject.case, origin)
