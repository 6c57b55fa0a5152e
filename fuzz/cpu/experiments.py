"""What a cpu trial does with one job: several runs, and the experiments that tell a defect from a harmless oddity.

Knows schedules, poisons and what a difference between runs means. How a kernel runs is passed in.
Long, since each experiment is a function, and all of them work on the runs of one trial.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from kfuzz.cpu.abi import Schedule, Status
from kfuzz.cpu.findings import Sight
from kfuzz.cpu.missing_order import Again, add_missing_order
from kfuzz.cpu.options import Flavour
from kfuzz.cpu.sights import Doubt
from kfuzz.devices import Circumstances, Finding, Job, Outcome, Probe, Refusal, Run
from kfuzz.devices.comparing import differing, may_be_unwritten, unwritten
from kfuzz.devices.layout import POISONS, nbytes
from kfuzz.kinds import Severity, kinds_with
from kfuzz.printable import printable

FINE, COARSE = 8, 64
"""Threads change over before one access in so many: a lost update shows at either in most runs."""

MISSING_LANES = (0, 0x3F800000, 0x7E967699, 0xFE967699)
"""What a lane gives that takes no part in a shuffle: 0, 1, 1e38 and -1e38 as float32."""

LEAVES_TRACES = kinds_with("leaves-traces")
READS_UNDEFINED = kinds_with("reads-undefined")


@dataclass(frozen=True)
class Manner:
    """How one run goes: in which order threads and blocks run, and what uninitialised memory holds.

    `late_writes`, in the check flavour alone: a read sees nothing of a write of global memory that it races with.
    """

    schedule: int
    poison: int
    seed: int = 0
    preempt_one_in: int = 0
    late_writes: bool = False
    assume: int = 0
    """What is taken for granted of the order of accesses, to find out what a race is for want of (abi.h)."""
    missing_lane: int = 0
    after_calls: bool = False
    """The job's earlier calls come first."""

    @property
    def circumstances(self) -> Circumstances:
        """What of this a report says of the run."""
        order = Schedule.word(self.schedule) + (f" {self.seed}" if self.schedule == Schedule.shuffled else "")
        return Circumstances(order, self.preempt_one_in, self.late_writes, self.after_calls, self.poison)


@dataclass(frozen=True)
class CpuRun:
    """What one run showed. `run` is None where it did not come to its end."""

    manner: Manner
    run: Run | None
    sights: tuple[Sight, ...]
    status: int
    seconds: float
    block_seconds: float
    """For how long nothing in the block had come on when time was up."""
    printed: str
    refusal: Refusal | None = None
    """Why a host function did not take its arguments."""


RunOnce = Callable[[Flavour, Manner, float], CpuRun]


@dataclass(frozen=True)
class Difference:
    """Where two runs differ, and what each has there. `array` and `index` where it is an element."""

    where: str
    left: str
    right: str
    array: str | None = None
    index: int | None = None


Differ = Callable[[CpuRun, CpuRun], Difference | None]


@dataclass
class Examination:
    """One job under examination, and what is left of its time."""

    job: Job
    probe: Probe
    flavour: Flavour
    run_once: RunOnce
    seconds: float
    differ: Differ
    turns: int = 0
    """At how many accesses threads take turns in every run; 0 leaves it to each run's manner."""

    def run(self, manner: Manner, flavour: Flavour | None = None) -> CpuRun:
        """Run the job once in this manner."""
        if self.turns:
            manner, flavour = replace(manner, preempt_one_in=self.turns), "check"
        done = self.run_once(flavour or self.flavour, manner, max(self.seconds, 0.001))
        self.seconds -= done.seconds
        return done


def manners(probe: Probe, after_calls: bool = False) -> list[Manner]:
    """Forward, reverse and then shuffled, with a poison of its own for each; of two runs, one is shuffled.

    One order can be right by accident: each of forward and reverse hides races that the other shows, and shuffled
    shows most of both. So where there are two runs, forward and reverse take turns, and so do the poisons. Where there
    is one, the second is for what it leaves in doubt. Where a job has earlier calls, they come before the second.
    """
    count, first = max(probe.runs, 2), 0
    fixed = [Schedule.forward, Schedule.reverse]
    if count == 2:
        fixed, first = [fixed[probe.seed % 2]], probe.seed // 2
    chosen = []
    for number in range(count):
        poison = POISONS[(first + number) % len(POISONS)]
        lane = MISSING_LANES[(first + number) % len(MISSING_LANES)]
        if number < len(fixed):
            chosen.append(Manner(fixed[number], poison, probe.seed, missing_lane=lane))
        else:
            turns = FINE if probe.check else 0
            chosen.append(Manner(Schedule.shuffled, poison, probe.seed * 1000 + number, turns, missing_lane=lane))
    chosen[1] = replace(chosen[1], after_calls=after_calls)
    return chosen


def examine(
    job: Job, probe: Probe, run_once: RunOnce, waiters: set[str], differ: Differ | None = None, seconds: float = 0
) -> Outcome:
    """Run a job as the probe says, and report what the runs prove.

    `waiters` remembers the sources in which threads wait for each other by reading memory again and again. `seconds`
    are for all runs together where that is more than the time-out of one.
    """
    flavour: Flavour = "check" if probe.check else "fast"
    compare = differ or partial(_find_difference, job)
    trial = Examination(job, probe, flavour, run_once, seconds or probe.timeout, compare)
    if job.source in waiters:
        trial.flavour, trial.turns = "check", FINE
    chosen = manners(probe, bool(job.earlier))
    runs_first = max(probe.runs, 2 if job.earlier else 1)
    passes = _run_passes(trial, chosen[:runs_first])
    if len(chosen) > runs_first and (first := passes[0].run) and may_be_unwritten(job, first, chosen[0].poison):
        passes += _run_passes(trial, chosen[runs_first:])
    if passes[-1].status == Status.too_large:
        can_be_fast = probe.check and not job.warp_synchronous
        return _run_unchecked(job, probe, run_once, waiters) if can_be_fast else _too_large(job)
    if passes[-1].status == Status.crowded:
        return CROWD
    if passes[-1].status == Status.refused:
        return _refused(passes)
    if passes[-1].status == Status.timed_out:
        if passes[-1].block_seconds < probe.timeout / 2:
            return _too_slow(passes)
        passes = _run_with_turns(trial, passes)
        waiters |= {job.source} if trial.turns else set()
    trial.seconds = max(trial.seconds, 0) + (seconds or probe.timeout)  # what follows is done for defects alone
    seen = _merge(sight for one in passes for sight in one.sights)
    whole = [one for one in passes if one.run is not None]
    if trial.flavour == "fast" and any(not one.precise or _is_stop(one) for one in seen):
        seen = _explain(trial, passes, seen)
    if trial.flavour == "check":
        if any(_is_write_after_read(sight) for one in passes for sight in one.sights):
            seen = _merge([*seen, *_try_other_way_round(trial, passes)])
        seen = add_missing_order(seen, job.source, partial(_repetition, trial, passes))
    findings = _settle(trial, whole, seen)
    runs = tuple(one.run for one in whole if one.run is not None)
    if len(runs) > 1:
        findings += unwritten(job, runs, [one.manner.poison for one in whole])
    notes = tuple(f"the kernel printed: {printable(one.printed)}" for one in passes[:1] if one.printed)
    return Outcome(runs, tuple(findings), notes)


def _run_passes(trial: Examination, chosen: Iterable[Manner]) -> list[CpuRun]:
    """The runs up to the first that does not come to its end; where each access is checked, what stops one is told, and
    another order may show more."""
    passes = []
    for manner in chosen:
        passes.append(trial.run(manner))
        goes_on = (Status.finished, Status.stopped) if trial.flavour == "check" else (Status.finished,)
        if passes[-1].status not in goes_on:
            break
    return passes


def _run_unchecked(job: Job, probe: Probe, run_once: RunOnce, waiters: set[str]) -> Outcome:
    """What a job shows whose arrays are too large for each access to be checked."""
    outcome = examine(job, replace(probe, check=False), run_once, waiters)
    return replace(outcome, notes=(*outcome.notes, "accesses were not checked: the arrays are too large for that"))


CROWD = Outcome(
    findings=(
        Finding(
            "out-of-memory",
            "too large for the cpu device: blocks wait for one another, and it holds 24576 threads at once",
            severity="warning",
        ),
    )
)
"""Of blocks that an H200 holds, and that are too many here."""


def _too_large(job: Job) -> Outcome:
    need = sum(nbytes(one) for one in job.buffers)
    message = (
        f"too large for the cpu device: {need} bytes of arrays; it holds 1 GB, and 256 MB where it checks accesses"
    )
    return Outcome(findings=(Finding("out-of-memory", message, severity="warning"),))


def _refused(passes: list[CpuRun]) -> Outcome:
    """A host function that does not take its arguments has no answer to be judged; what was seen before is certain."""
    certain = [sight for one in passes for sight in one.sights if sight.doubt is None]
    return Outcome(findings=tuple(one.finding for one in _merge(certain)), refusal=passes[-1].refusal)


def _too_slow(passes: list[CpuRun]) -> Outcome:
    """Blocks or threads came to their ends, one after the other: this is work, no hang. What is certain is told."""
    runs = tuple(one.run for one in passes if one.run is not None)
    certain = [sight for one in passes for sight in one.sights if sight.doubt is None and sight.finding.kind != "hang"]
    note = "not run to its end: too slow here, though its blocks or threads come to their ends; try smaller sizes"
    return Outcome(runs, tuple(one.finding for one in _merge(certain)), (note,))


def _run_with_turns(trial: Examination, passes: list[CpuRun]) -> list[CpuRun]:
    """The runs again, with threads that take turns at every few accesses, where the job comes to its end that way.

    A thread may rightly wait for another by reading memory again and again, but the runtime can only interrupt it
    where accesses are checked.
    """
    trial.seconds = trial.probe.timeout
    turns = trial.run(replace(passes[-1].manner, preempt_one_in=FINE), "check")
    if turns.status == Status.timed_out:
        return [*passes[:-1], _add_time(trial, passes[-1] if _has_lines(passes[-1]) else turns)]
    trial.flavour, trial.turns, trial.seconds = "check", FINE, trial.probe.timeout
    return _run_passes(trial, manners(trial.probe, bool(trial.job.earlier)))


def _add_time(trial: Examination, hung: CpuRun) -> CpuRun:
    """The pass with words for how long it was given, and in which order its threads ran."""
    after = f"not ended after {trial.probe.timeout:g} s of processor time ({hung.manner.circumstances})"
    told = (replace(one.finding, message=f"{after}: {one.finding.message}") for one in hung.sights)
    seen = zip(hung.sights, told, strict=True)
    return replace(hung, sights=tuple(replace(one, finding=f) if f.kind == "hang" else one for one, f in seen))


def _has_lines(one: CpuRun) -> bool:
    return all(sight.finding.line is not None for sight in one.sights)


def _is_stop(sight: Sight) -> bool:
    return sight.finding.kind in ("illegal-address", "misaligned") or sight.finding.line is None


def _explain(trial: Examination, passes: list[CpuRun], seen: list[Sight]) -> list[Sight]:
    """The same run with every access checked: it names the access where the fast run saw its traces."""
    culprit = next((one for one in passes if any(not s.precise or _is_stop(s) for s in one.sights)), passes[-1])
    closer = [one for one in _run_checked(trial, culprit.manner) if one.precise]
    if not any(one.finding.severity == "error" for one in closer):
        return seen
    explained = {one.finding.kind for one in closer} | {"illegal-address", "out-of-bounds"}
    return _merge([*(one for one in seen if one.finding.kind not in explained), *closer])


def _repetition(trial: Examination, checked: list[CpuRun], sight: Sight) -> Again | None:
    """How the run that showed this is made again; each access was checked in it."""
    shown = next((one for one in checked if any(other.finding == sight.finding for other in one.sights)), None)
    if shown is None:
        return None
    return lambda assume: (
        trial.run(replace(shown.manner, assume=assume), "check").sights if trial.seconds > 0 else [sight]
    )


def _is_write_after_read(sight: Sight) -> bool:
    """Whether a write leaves what is there, and another thread has read the place before, with nothing between the two.

    What that one has read may be what was there before a third wrote: then the read shows it, where it comes last.
    """
    race, severity = sight.race, sight.finding.severity
    return race is not None and severity == "warning" and not (race.other_writes or race.traits or race.other_traits)


def _try_other_way_round(trial: Examination, passes: list[CpuRun]) -> Iterator[Sight]:
    """What the orders show that no pass has had, of those in which the last of two comes first."""
    for schedule in {Schedule.forward, Schedule.reverse} - {one.manner.schedule for one in passes}:
        if trial.seconds > 0:
            yield from _run_checked(trial, replace(passes[0].manner, schedule=schedule))


def _run_checked(trial: Examination, manner: Manner) -> list[Sight]:
    """What a run shows that has every access checked, in what is left of the time: to need more of it is no hang."""
    return [one for one in trial.run(manner, "check").sights if one.finding.kind != "hang"]


def _settle(trial: Examination, whole: list[CpuRun], seen: list[Sight]) -> list[Finding]:
    """The findings, with each doubt tried by experiment, and what the runs' differences show beside them."""
    causes: dict[Doubt, Finding | None] = {}
    odd = [one for one in whole[1:] if trial.differ(whole[0], one)][:1]
    if whole and (odd or any(one.doubt for one in seen)):
        causes = {"poison": _try_poisons(trial, [*whole[:2], *odd]), "schedule": _try_orders(trial, whole[0], odd)}
        if any(one.doubt == "lane" for one in seen):
            causes["lane"] = _try_lanes(trial, whole[:2])
        if trial.flavour == "fast" and any(causes.values()):
            seen = _merge([*seen, *_find_culprits(trial, whole, causes)])
    findings = [_weigh(one, causes) for one in seen if not (one.is_partial and not causes.get("poison"))]
    if whole and odd and (by_calls := _try_without_calls(trial, whole)):
        findings.append(by_calls)
    kinds = {one.kind for one in findings if one.severity == "error"}
    if (by_poison := causes.get("poison")) and not kinds & READS_UNDEFINED:
        findings.append(by_poison)
    if (by_schedule := causes.get("schedule")) and "race" not in kinds:
        findings.append(by_schedule)
    return findings


def _weigh(sight: Sight, causes: dict[Doubt, Finding | None]) -> Finding:
    """A doubtful sight is an error where an experiment made it visible; else it is as grave as it was, and says so."""
    if sight.doubt is None:
        return sight.finding
    cause = causes.get(sight.doubt)
    if sight.doubt == "schedule":
        shown = f"; {cause.message}" if cause else " (no order of threads that was tried changes the result)"
        return replace(sight.finding, message=sight.finding.message + shown)
    if cause and cause.severity == "error":
        return replace(sight.finding, severity="error")
    if cause:
        return replace(sight.finding, message=f"{sight.finding.message} ({cause.message})")
    what = "value of such a lane" if sight.doubt == "lane" else "content of uninitialised memory"
    return replace(sight.finding, message=f"{sight.finding.message} (no {what} that was tried changes the result)")


def _find_culprits(trial: Examination, whole: list[CpuRun], causes: dict[Doubt, Finding | None]) -> Iterator[Sight]:
    """What the check flavour sees that can cause a dependence: only that which the experiment has confirmed."""
    runs = [trial.run(replace(one.manner, preempt_one_in=0), "check") for one in whole[:2]]
    shown = [sight for one in runs for sight in one.sights if sight.finding.kind != "hang"]
    for sight in add_missing_order(shown, trial.job.source, partial(_repetition, trial, runs)):
        certain = sight.finding.severity == "error" and sight.precise
        if certain or (sight.doubt is not None and causes.get(sight.doubt)):
            yield sight


def _find_difference(job: Job, left: CpuRun, right: CpuRun) -> Difference | None:
    if left.run is None or right.run is None:
        return None
    different = differing(job, left.run, left.manner.poison, right.run, right.manner.poison)
    if different is None:
        return None
    output, index, one, two = different
    return Difference(f"{output}[{index}]", f"0x{one:08x}", f"0x{two:08x}", output, index)


def _try_poisons(trial: Examination, bases: list[CpuRun]) -> Finding | None:
    """The finding that the result depends on what uninitialised memory holds: nothing else was changed."""
    for base in bases:
        for poison in POISONS:
            if poison == base.manner.poison or trial.seconds <= 0:
                continue
            other = trial.run(replace(base.manner, poison=poison))
            if found := trial.differ(base, other):
                message = (
                    f"{found.where} depends on memory that nobody has written: it is {found.left} or {found.right}, "
                    f"as that memory holds {base.manner.poison:08x} or {poison:08x}"
                )
                return Finding("uninitialised", message, array=found.array, index=found.index)
    return None


def _try_lanes(trial: Examination, bases: list[CpuRun]) -> Finding | None:
    """The finding that the result depends on what an absent lane gives: an error unless a NaN alone shows it.

    PTX leaves the value open; hardware gives 0, or what the lane held last.
    """
    ranks: list[tuple[int, Severity]] = [*((one, "error") for one in MISSING_LANES), (POISONS[0], "warning")]
    for value, severity in ranks:
        for base in bases:
            if value == base.manner.missing_lane or trial.seconds <= 0:
                continue
            if found := trial.differ(base, trial.run(replace(base.manner, missing_lane=value))):
                only = "only a NaN from such a lane shows" if severity == "warning" else "what such a lane gives shows"
                message = f"{only} in {found.where}"
                return Finding("inactive-lane", message, severity, array=found.array, index=found.index)
    return None


def _try_orders(trial: Examination, base: CpuRun, odd: list[CpuRun]) -> Finding | None:
    """The finding that the result depends on the order in which threads run: nothing else was changed.

    With the odd run's order it is complete: two runs that differ in poison and order differ by one of the two.
    """
    same = base.manner
    known = [
        replace(one.manner, poison=same.poison, missing_lane=same.missing_lane, after_calls=same.after_calls)
        for one in odd
    ]
    for manner in [*known, *_other_orders(trial, base.manner)]:
        if trial.seconds <= 0:
            break
        other = trial.run(manner)
        if found := trial.differ(base, other):
            message = (
                f"{found.where} depends on the order of threads: {found.left} ({base.manner.circumstances}) "
                f"or {found.right} ({manner.circumstances})"
            )
            return Finding("nondeterministic", message, severity="warning", array=found.array, index=found.index)
    return None


def _try_without_calls(trial: Examination, whole: list[CpuRun]) -> Finding | None:
    """The finding that the result depends on earlier calls: nothing else was changed."""
    after = next((one for one in whole if one.manner.after_calls), None)
    if after is None or trial.seconds <= 0:
        return None
    alone = trial.run(replace(after.manner, after_calls=False))
    if found := trial.differ(alone, after):
        message = (
            f"{found.where} depends on what was called before: it is {found.left} in a first call, {found.right} "
            "after calls with other sizes and values"
        )
        return Finding("stateful", message, severity="warning", array=found.array, index=found.index)
    return None


def _other_orders(trial: Examination, base: Manner) -> Iterator[Manner]:
    if trial.flavour == "check":  # what no order of threads shows, as where a __threadfence is missing
        yield replace(base, late_writes=True)
    for schedule in (Schedule.forward, Schedule.reverse):
        if schedule != base.schedule:
            yield replace(base, schedule=schedule)
    turns = (0, FINE, COARSE) if trial.flavour == "check" else (0,)
    for seed, preempt in itertools.product(range(1, 4), turns):
        yield replace(base, schedule=Schedule.shuffled, seed=base.seed * 1000 + seed, preempt_one_in=preempt)


def _merge(found: Iterable[Sight]) -> list[Sight]:
    """Each defect once, however many runs saw it; traces in guard zones only where nobody saw the write itself."""
    merged: dict[tuple[object, ...], Sight] = {}
    for one in found:
        f = one.finding
        lines: tuple[tuple[str, int | None], ...] = ((f.file, f.line), (f.other_file, f.other_line))
        if f.kind == "race" and f.severity == "warning":  # which of the two came first says nothing
            lines = tuple(sorted(lines, key=str))
        key = (f.kind, f.severity, lines, f.array if f.line is None else None)
        merged.setdefault(key, one)
    seen = list(merged.values())
    caught = {one.finding.kind for one in seen if one.precise} & LEAVES_TRACES
    return [one for one in seen if one.precise or one.finding.kind not in caught]
