"""Replays a kept case on a kernel whose claim admits it.

Knows cases, kernels and trials; it does not know how a case is stored or shown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Literal

from kfuzz.campaign.trials.compiled import options_for
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.locating import locate
from kfuzz.campaign.trials.trial import Trial, ignore_progress, run_trial, unfit
from kfuzz.campaign.trials.unjudged import Unjudged, without_numbers
from kfuzz.cases.case import Origin, Record
from kfuzz.cases.plans.choose import seed_of
from kfuzz.claims.kernel import Kernel
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import ClaimError, Device, Probe, UnsupportedError

ReplayStatus = Literal["kept", "fixed", "warned", "flaky", "broken", "not claimed", "skipped", "cannot run"]
ORDER: tuple[ReplayStatus, ...] = ("not claimed", "kept", "fixed", "warned", "flaky", "broken")
TRIES = 3
MOST_TUNES = 4
LARGE = 1 << 14
"""A case of at least so many elements is replayed with one launch: such a case breaks a kernel by its size."""


@dataclass(frozen=True)
class Replay:
    """The result of a case on one kernel.

    `fixed`: the kernel that the case once broke now keeps it. `warned`: the kernel shows the warning for which the case
    was kept, and no error. `flaky`: `broken_runs` of `runs` trials were broken, which differ only in schedule, poison
    and alignment. `skipped`: the device lacks something that the kernel uses. `cannot run`: the claim or the source is
    at fault. `reason` says why a case is not claimed, or not run. `notes`: what the broken trials showed beside their
    defects, such as printed text. `rows` and `unjudged_rows`, as in a Trial, are those of the launch that left most of
    them out; `reasons` say why.
    """

    kernel: str
    status: ReplayStatus
    runs: int
    broken_runs: int
    defects: tuple[Defect, ...]
    tune: Mapping[str, int]
    reason: str = ""
    notes: tuple[str, ...] = ()
    rows: int = 0
    unjudged_rows: int = 0
    reasons: tuple[Unjudged, ...] = ()


def replay(
    record: Record,
    kernel: Kernel,
    device: Device,
    tries: int = TRIES,
    timeout: float = 10.0,
    tell: Callable[[str], None] = ignore_progress,
) -> Replay:
    """Run a record's case on a kernel as often as it takes to say always, sometimes or never; report progress. Where
    the user lets a call take longer than `timeout`, it may.
    """
    try:
        return _replay_launches(record, kernel, device, tries, max(timeout, time_limits().call or 0.0), tell)
    except UnsupportedError as error:
        return Replay(kernel.name, "skipped", 0, 0, (), {}, str(error))
    except ClaimError as error:
        return Replay(kernel.name, "cannot run", 0, 0, (), {}, str(error))


def _replay_launches(
    record: Record, kernel: Kernel, device: Device, tries: int, timeout: float, tell: Callable[[str], None]
) -> Replay:
    reason = unfit(kernel, record.case)
    if reason:
        return Replay(kernel.name, "not claimed", 0, 0, (), {}, reason)
    mine = record.origin is not None and record.origin.kernel == kernel.name
    warning = record.origin.bucket if mine and record.origin and record.origin.severity == "warning" else ""
    worst = Replay(kernel.name, "kept", 0, 0, (), {})
    every: list[Trial] = []
    for tune, probes in launches_to_try(record, kernel, tries, timeout):
        trials: list[Trial] = []
        for probe in probes:
            trials.append(run_trial(kernel, record.case, tune, device, probe, tell))
            if hangs := any(defect.kind == "hang" for defect in trials[-1].defects):
                break  # one time-out is enough
        every += trials
        found = _summarize(kernel, tune, trials, device, warning)
        worst = max(worst, found, key=lambda one: ORDER.index(one.status))
        if hangs:
            break
    if worst.status == "kept":
        worst = replace(worst, status="fixed" if mine else "kept", runs=len(every))
    least = max(every, key=lambda one: one.unjudged_rows)
    reasons = tuple(map(without_numbers, least.reasons)) if least.unjudged_rows else ()
    return replace(worst, rows=least.rows, unjudged_rows=least.unjudged_rows, reasons=reasons)


def _summarize(
    kernel: Kernel, tune: Mapping[str, int], trials: Sequence[Trial], device: Device, warning: str
) -> Replay:
    broken = [trial for trial in trials if trial.errors]
    warned = [defect for trial in trials for defect in trial.defects if defect.bucket == warning]
    if warned and not broken:
        return Replay(kernel.name, "warned", len(trials), len(warned), (warned[0],), tune)
    status: ReplayStatus = "kept" if not broken else "broken" if len(broken) == len(trials) else "flaky"
    every = {defect.bucket: (defect, trial) for trial in trials for defect in trial.errors}
    defects = tuple(locate(defect, kernel, trial.case, device, trial.probe) for defect, trial in every.values())
    notes = tuple(dict.fromkeys(note for trial in broken for note in trial.notes))
    return Replay(kernel.name, status, len(trials), len(broken), defects, tune, notes=notes)


def launches_to_try(
    record: Record, kernel: Kernel, tries: int, timeout: float
) -> Iterator[tuple[Mapping[str, int], list[Probe]]]:
    """The tune values to try, each with probes that differ only in their seed."""
    origin = record.origin
    mine = origin is not None and origin.kernel == kernel.name
    tunes, flavours = _tunes(kernel, record, origin if mine else None), [False, True]
    if record.case.elements >= LARGE:
        tunes, flavours = tunes[:1], [origin is not None and origin.check]
    for tune in tunes:
        for check in flavours:
            again = mine and origin is not None and origin.check == check
            first = origin.seed if origin is not None and again else 0
            seeds = [first, *(seed_of(first, index) for index in range(1, tries if again else 1))]
            runs = origin.runs if origin is not None else Probe().runs
            options = options_for([origin.kind] if origin is not None else [])
            yield tune, [Probe(check, runs, seed, timeout, options=options) for seed in seeds]


def _tunes(kernel: Kernel, record: Record, origin: Origin | None) -> list[dict[str, int]]:
    """The launch that broke the kernel, if the claim still allows it; else the extreme launches of the claim."""
    axes = kernel.axes_of(record.case.arrays)
    if origin is not None and all(origin.tune.get(name) in kernel.tune[name] for name in kernel.tune):
        first = {name: origin.tune[name] for name in kernel.tune}
        if not kernel.where.broken({**axes, **first}):
            return [first]
    ends = ({min(values), max(values)} for values in kernel.tune.values())
    every = [dict(zip(kernel.tune, values, strict=True)) for values in product(*map(sorted, ends))]
    every = [tune for tune in every if not kernel.where.broken({**axes, **tune})]
    return (every or list(islice(kernel.tunes(axes), MOST_TUNES)))[:MOST_TUNES]
