"""Runs one job several times on the cpu device, and separates defects from harmless oddities by experiments.

Knows schedules, poisons and what a difference between runs means. The caller passes in how a kernel runs.
Long, because each experiment is a function, and all of them work on the runs of one trial.
Long, since each experiment decides whether the next is needed.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from kfuzz.common.printable import printable
from kfuzz.devices import Circumstances, Finding, Job, Outcome, Probe, Refusal, Run
from kfuzz.devices.cpu.abi import USUAL_MULTIPROCESSORS, Relation, Schedule, Status
from kfuzz.devices.cpu.findings import Sight
from kfuzz.devices.cpu.missing_order import Again, add_missing_order
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.sights import Doubt
from kfuzz.devices.memory.comparing import find_unwritten, find_written_absent, first_difference, may_be_unwritten
from kfuzz.devices.memory.layout import POISONS, fewest_runs, nbytes
from kfuzz.devices.outcomes import TOO_SLOW_HERE
from kfuzz.devices.streams import StreamOptions
from kfuzz.kinds import Severity, kinds_with
from kfuzz.oracle.numbers.plural import plural

FINE, COARSE = 8, 64
"""Threads take turns at one access in this many: most runs show a lost update at either."""

FEW_MULTIPROCESSORS = 4
"""So few that the blocks of a grid of this many loop: some runs show the host such a GPU."""

MISSING_LANES = (0, 0x3F800000, 0x7E967699, 0xFE967699)
"""The values that a shuffle gets from a lane that takes no part in it: 0, 1, 1e38 and -1e38 as float32."""

PATIENCE = 3
"""How many times the time-out a run has that would otherwise be called a hang: on a core that two processes share, or
that a hypervisor takes away, a second of processor time does half the work or less.
"""
TRIED: dict[Doubt, str] = {
    "schedule": "other orders of threads",
    "poison": "other contents of uninitialised memory",
    "lane": "other values of such a lane",
    "late": "to let such a read see the value from before the write",
    "reads": "to let such a read see the value from before and after the write",
    "copies": "other orders of threads",
}
"""What an experiment changes."""
LEAVES_TRACES = kinds_with("leaves-traces")
READS_UNDEFINED = kinds_with("reads-undefined")


@dataclass(frozen=True)
class Manner:
    """How one run differs from others: the order of threads and blocks, and the content of uninitialised memory.

    `late_writes`, only in the check flavour: a read does not see a write of global memory that it races with.
    """

    schedule: int
    poison: int
    seed: int = 0
    preempt_one_in: int = 0
    late_writes: bool = False
    assume: int = 0
    """The order of accesses that this run assumes (abi.h's Assume), to find out what would prevent a race."""
    missing_lane: int = 0
    after_calls: bool = False
    """Whether the job's earlier calls run first."""
    whole: bool = False
    """Whether every block of a program's launches is checked in full, and not only a sample of large ones."""
    multiprocessors: int = USUAL_MULTIPROCESSORS
    """Of the GPU that a host function sees."""
    has_own_streams: bool = False
    """Whether each call of a host function is made on a stream of its own."""

    @property
    def circumstances(self) -> Circumstances:
        """The part of the manner that reports name."""
        order = Schedule.word(self.schedule) + (f" {self.seed}" if self.schedule == Schedule.shuffled else "")
        others = 0 if self.multiprocessors == USUAL_MULTIPROCESSORS else self.multiprocessors
        return Circumstances(
            order, self.preempt_one_in, self.late_writes, self.after_calls, self.poison, multiprocessors=others
        )

    def seen_by_host(self, asks: bool) -> "Manner":
        """The same manner; the number of multiprocessors counts only if the host asks for it."""
        return self if asks else replace(self, multiprocessors=USUAL_MULTIPROCESSORS)


@dataclass(frozen=True)
class CpuRun:
    """The result of one run. `run` is None if it did not end."""

    manner: Manner
    run: Run | None
    sights: tuple[Sight, ...]
    status: int
    seconds: float
    block_seconds: float
    """How long the block had made no progress when the time was up."""
    printed: str
    refusal: Refusal | None = None
    """The reason why a host function refused its arguments."""
    asks_multiprocessors: bool = False
    """Whether the host has asked how many multiprocessors the GPU has."""
    is_cut: bool = False
    """Whether it did not end, or begin, since the time of the whole command was over."""


SECONDS_FOR_ERRORS = 5.0
"""Processor time in which to show that a race which is an error anyway changes the result."""
RunOnce = Callable[[Flavour, Manner, float], CpuRun]
RunText = Callable[[str, Manner, float], CpuRun | None]
"""Runs the job with another text in the check flavour; None if that does not compile."""


@dataclass(frozen=True)
class Difference:
    """A place where two runs differ, and what each has there. `array` and `index` name it if it is an element."""

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
    run_text: RunText | None = None
    turns: int = 0
    """In every run, threads take turns at one access in this many; 0 leaves it to the manner of each run."""
    unended: int = 0
    """The runs that settle doubts and did not end."""
    time_left: Callable[[], float] = lambda: inf
    """Seconds until the time of the whole command is over."""
    was_cut: bool = False
    """Whether a run did not end, or begin, since that time was over."""

    def run(self, manner: Manner, flavour: Flavour | None = None) -> CpuRun:
        """Run the job once in this manner."""
        if self.turns:
            manner, flavour = replace(manner, preempt_one_in=self.turns, whole=True), "check"
        done = self.run_once(flavour or self.flavour, manner, max(self.seconds, 0.001))
        self.seconds = min(self.seconds - done.seconds, self.time_left())
        self.was_cut |= done.is_cut
        return done

    def try_run(self, manner: Manner) -> CpuRun:
        """Run the job once to settle a doubt; a run that does not end settles nothing."""
        done = self.run(manner)
        self.unended += done.run is None
        return done


def manners(probe: Probe, after_calls: bool = False, fewest: int = 2) -> list[Manner]:
    """The manners of a trial's runs: forward, reverse, then shuffled, each with its own poison.

    One order can be right by accident: forward and reverse each hide races that the other shows, and shuffled shows
    most of both. So a trial of two runs has one shuffled run, and forward or reverse by its seed, as with the poisons.
    A trial of fewer runs than `fewest` has the others for what the first ones leave in doubt. Earlier calls of a job
    come before the second run, in which the host sees a small GPU.
    """
    count, first = max(probe.runs, fewest), 0
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
    chosen[1] = replace(chosen[1], after_calls=after_calls, multiprocessors=FEW_MULTIPROCESSORS)
    has_own_streams = probe.option(StreamOptions).has_own
    return [replace(one, has_own_streams=has_own_streams) for one in chosen] if has_own_streams else chosen


def examine(
    job: Job,
    probe: Probe,
    run_once: RunOnce,
    waiters: set[str],
    differ: Differ | None = None,
    seconds: float = 0,
    run_text: RunText | None = None,
    time_left: Callable[[], float] = lambda: inf,
) -> Outcome:
    """Run a job as the probe says, and report what the runs prove.

    `waiters` remembers the sources in which threads wait for each other by reading memory again and again. `seconds`
    are for all runs together where that is more than the time-out of one.
    """
    flavour: Flavour = "check" if probe.check else "fast"
    compare = differ or partial(_find_difference, job)
    trial = Examination(job, probe, flavour, run_once, seconds or probe.timeout, compare, run_text, time_left=time_left)
    if job.source in waiters:
        trial.flavour, trial.turns = "check", FINE
    chosen = manners(probe, bool(job.earlier), fewest_runs(job))
    runs_first = max(probe.runs, 2 if job.earlier else 1)
    passes = _run_first(trial, chosen, runs_first)
    if passes[-1].status == Status.too_large:
        can_be_fast = probe.check and not job.warp_synchronous
        return _run_unchecked(job, probe, run_once, waiters) if can_be_fast else _too_large(job)
    if passes[-1].status == Status.crowded:
        return CROWD
    if passes[-1].status == Status.refused:
        return _refused(passes)
    if passes[-1].status == Status.timed_out and not passes[-1].is_cut:
        if passes[-1].block_seconds < probe.timeout / 2:
            return _too_slow(passes, "since its blocks or threads keep ending or writing")
        passes = _run_with_turns(trial, passes)
        waiters |= {job.source} if trial.turns else set()
        if trial.was_cut:
            return _too_slow(passes, "since the time was over before it could have more")
        if passes[-1].status == Status.timed_out and "hang" not in probe.fatal and _ends_later(trial, passes[-1]):
            return _too_slow(passes, f"since it ends in {PATIENCE} times the time")
    trial.unended += passes[-1].is_cut
    extra = seconds or probe.timeout  # the rest happens only if there are defects
    trial.seconds = min(max(trial.seconds, 0) + extra, time_left())
    sights = _merge([*_sights_of_any_gpu(passes), *_sights_of_small_gpu(trial, passes)])
    whole = [one for one in passes if one.run is not None]
    if trial.flavour == "fast" and any(not one.precise or _is_stop(one) for one in sights):
        sights = _explain(trial, passes, sights)
    if trial.flavour == "check":
        if any(_is_write_after_read(sight) for one in passes for sight in one.sights):
            sights = _merge([*sights, *_try_other_way_round(trial, passes)])
        sights = _add_missing_order(trial, sights, passes)
    findings = _settle(trial, whole, sights)
    runs = tuple(one.run for one in whole if one.run is not None)
    if len(runs) > 1:
        findings += _find_unwritten(trial, whole)
    findings += find_written_absent(job, *_runs_and_poisons(whole))
    notes = tuple(f"the kernel printed: {printable(one.printed)}" for one in passes[:1] if one.printed)
    return Outcome(runs, tuple(findings), notes)


def _run_first(trial: Examination, chosen: list[Manner], count: int) -> list[CpuRun]:
    """The runs of a trial: `count` of them, and more as long as they leave in doubt whether each element is written."""
    passes = _run_passes(trial, chosen[:count])
    if passes[-1].status == Status.crowded and passes[-1].asks_multiprocessors:
        chosen = [replace(one, multiprocessors=FEW_MULTIPROCESSORS) for one in chosen]
        passes = _run_passes(trial, chosen[:count])
    for manner in chosen[count:]:
        ended = [one.run for one in passes if one.run is not None]
        if len(ended) < len(passes) or not may_be_unwritten(trial.job, ended, [one.manner.poison for one in passes]):
            break
        passes += _run_passes(trial, [manner])
    return passes


def _find_unwritten(trial: Examination, whole: list[CpuRun]) -> Iterator[Finding]:
    """The elements that no run on the first run's GPU writes."""
    alike = [one for one in whole if _is_on_gpu_of(whole[0], one)]
    for other in (one for one in whole if not _is_on_gpu_of(whole[0], one)):
        if not may_be_unwritten(trial.job, *_runs_and_poisons(alike)):
            break
        alike.append(trial.run(replace(other.manner, multiprocessors=alike[0].manner.multiprocessors)))
    return find_unwritten(trial.job, *_runs_and_poisons(alike))


def _runs_and_poisons(ended: Iterable[CpuRun]) -> tuple[list[Run], list[int]]:
    pairs = [(one.run, one.manner.poison) for one in ended if one.run is not None]
    return [run for run, _ in pairs], [poison for _, poison in pairs]


def _run_passes(trial: Examination, chosen: Iterable[Manner]) -> list[CpuRun]:
    """Run the job until a run does not end. A run that a checked access stops does not count as such: it reports what
    stopped it, and another order may show more.
    """
    passes: list[CpuRun] = []
    for manner in chosen:
        one = trial.run(manner)
        is_over = one.status not in (
            (Status.finished, Status.stopped) if trial.flavour == "check" else (Status.finished,)
        )
        if is_over and passes and not _is_on_gpu_of(passes[0], one) and not one.is_cut:
            continue  # a function may want a larger GPU
        passes.append(one)
        if is_over:
            break
    return passes


def _is_on_gpu_of(one: CpuRun, other: CpuRun) -> bool:
    return one.manner.multiprocessors == other.manner.multiprocessors


def _sights_of_any_gpu(passes: list[CpuRun]) -> Iterator[Sight]:
    """The sights of the runs with the first run's GPU."""
    return (sight for one in passes if _is_on_gpu_of(passes[0], one) for sight in one.sights)


def _sights_of_small_gpu(trial: Examination, passes: list[CpuRun]) -> Iterator[Sight]:
    """The sights of the other runs. If the usual GPU does not show one in the same manner, it needs the small one."""
    known = {_key(one) for one in _sights_of_any_gpu(passes)}
    is_first = passes[0].manner.multiprocessors != USUAL_MULTIPROCESSORS
    for one in passes:
        if _is_on_gpu_of(passes[0], one) and not is_first:
            continue
        more = [sight for sight in one.sights if is_first or _key(sight) not in known]
        if more and not is_first and trial.seconds > 0:
            again = trial.run(replace(one.manner, multiprocessors=USUAL_MULTIPROCESSORS))
            known |= {_key(sight) for sight in again.sights}
        for sight in more:
            is_general = _key(sight) in known and not is_first
            yield sight if is_general else replace(sight, finding=name_gpu(sight.finding, one.manner))


def name_gpu(finding: Finding, manner: Manner) -> Finding:
    """The finding with the GPU that a run in this manner shows the host, unless it is the usual one."""
    count = manner.multiprocessors
    if count == USUAL_MULTIPROCESSORS:
        return finding
    message = f"{finding.message}; on a GPU with {count} multiprocessors"
    return replace(finding, message=message, multiprocessors=count)


def _run_unchecked(job: Job, probe: Probe, run_once: RunOnce, waiters: set[str]) -> Outcome:
    """Examine a job without checking its accesses, since its arrays are too large for that."""
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
"""For blocks that fit on a GPU at once, but not here."""


def _too_large(job: Job) -> Outcome:
    need = sum(nbytes(one) for one in job.buffers)
    message = (
        f"too large for the cpu device: {need} bytes of arrays; it holds 1 GB, and 256 MB where it checks accesses"
    )
    return Outcome(findings=(Finding("out-of-memory", message, severity="warning"),))


def _refused(passes: list[CpuRun]) -> Outcome:
    """The outcome where a host function refuses its arguments: no answer, and the certain sights up to there."""
    certain = [sight for one in passes for sight in one.sights if is_certain(sight)]
    return Outcome(findings=tuple(one.finding for one in _merge(certain)), refusal=passes[-1].refusal)


def _too_slow(passes: list[CpuRun], why: str) -> Outcome:
    """The outcome of a job that is slow but does not hang: its certain sights."""
    runs = tuple(one.run for one in passes if one.run is not None)
    certain = [sight for one in passes for sight in one.sights if is_certain(sight)]
    note = f"{TOO_SLOW_HERE}, though not hanging, {why}; try smaller sizes"
    return Outcome(runs, tuple(one.finding for one in _merge(certain)), (note,))


def is_certain(sight: Sight) -> bool:
    """Whether this is a defect whatever an experiment shows: experiments make warnings to errors, never the reverse."""
    is_race = sight.race is not None and sight.finding.severity == "error"
    return sight.finding.kind != "hang" and (sight.doubt is None or is_race)


def _run_with_turns(trial: Examination, passes: list[CpuRun]) -> list[CpuRun]:
    """Repeat the runs with threads that take turns at every few accesses, if the job ends that way.

    A correct thread may wait for another by reading memory again and again, but the runtime can only interrupt it
    where accesses are checked.
    """
    trial.seconds = trial.probe.timeout
    turns = trial.run(replace(passes[-1].manner, preempt_one_in=FINE, whole=True), "check")
    if turns.status == Status.timed_out:
        return [*passes[:-1], _add_time(trial, passes[-1] if _has_lines(passes[-1]) else turns)]
    trial.flavour, trial.turns, trial.seconds = "check", FINE, trial.probe.timeout
    return _run_passes(trial, manners(trial.probe, bool(trial.job.earlier), fewest_runs(trial.job)))


def _ends_later(trial: Examination, hung: CpuRun) -> bool:
    """Whether a run that was stopped ends if it has more time."""
    trial.seconds = PATIENCE * trial.probe.timeout
    later = trial.run(hung.manner)
    return later.status != Status.timed_out or later.is_cut  # nothing shows that it would not


def _add_time(trial: Examination, hung: CpuRun) -> CpuRun:
    """The run whose hang says how much time it had and in which order its threads ran."""
    after = f"not ended after {trial.probe.timeout:g} s of processor time ({hung.manner.circumstances})"
    findings = (replace(one.finding, message=f"{after}: {one.finding.message}") for one in hung.sights)
    pairs = zip(hung.sights, findings, strict=True)
    return replace(hung, sights=tuple(replace(one, finding=f) if f.kind == "hang" else one for one, f in pairs))


def _has_lines(one: CpuRun) -> bool:
    return all(sight.finding.line is not None for sight in one.sights)


def _is_stop(sight: Sight) -> bool:
    return sight.finding.kind in ("illegal-address", "misaligned") or sight.finding.line is None


def _explain(trial: Examination, passes: list[CpuRun], sights: list[Sight]) -> list[Sight]:
    """Repeat a run with every access checked, which names the access that left the traces of the fast run."""
    culprit = next((one for one in passes if any(not s.precise or _is_stop(s) for s in one.sights)), passes[-1])
    closer = [one for one in _run_checked(trial, culprit.manner) if one.precise]
    if not any(one.finding.severity == "error" for one in closer):
        return sights
    explained = {one.finding.kind for one in closer} | {"illegal-address", "out-of-bounds"}
    return _merge([*(one for one in sights if one.finding.kind not in explained), *closer])


def _add_missing_order(trial: Examination, sights: list[Sight], checked: list[CpuRun]) -> list[Sight]:
    if trial.job.is_tiled:  # its source has no barriers
        return sights
    repetition, with_text = partial(_repetition, trial, checked), partial(_with_text, trial, checked)
    return add_missing_order(sights, trial.job.source, repetition, with_text)


def _with_text(trial: Examination, checked: list[CpuRun], sight: Sight, text: str) -> list[Sight] | None:
    """The sights of the job with another text, in the manners of all checked runs: a barrier moves races to others."""
    sights: list[Sight] = []
    for manner in (one.manner for one in checked):
        done = trial.run_text(text, manner, max(trial.seconds, 0.001)) if trial.run_text and trial.seconds > 0 else None
        if done is None:
            return None
        trial.seconds -= done.seconds
        sights += done.sights
    return sights


def _repetition(trial: Examination, checked: list[CpuRun], sight: Sight) -> Again | None:
    """A function that repeats the checked run that showed a sight, with more assumed about the order of accesses."""
    shown = next((one for one in checked if any(other.finding == sight.finding for other in one.sights)), None)
    if shown is None:
        return None

    def repeat(assume: int) -> Iterable[Sight]:
        done = trial.run(replace(shown.manner, assume=assume), "check") if trial.seconds > 0 else None
        return [sight] if done is None or done.is_cut else done.sights  # what did not end shows no repair

    return repeat


def _is_write_after_read(sight: Sight) -> bool:
    """Whether this is an unordered read and write, with the read first and a write that stores the value already there.

    In another order, in which the read comes last, it may read a value that a third thread has replaced.
    """
    race, severity = sight.race, sight.finding.severity
    return race is not None and severity == "warning" and not (race.other_writes or race.traits or race.other_traits)


def _try_other_way_round(trial: Examination, passes: list[CpuRun]) -> Iterator[Sight]:
    """Sights of forward or reverse order, whichever no run has had: there the later of two accesses comes first."""
    for schedule in {Schedule.forward, Schedule.reverse} - {one.manner.schedule for one in passes}:
        if trial.seconds > 0:
            yield from _run_checked(trial, replace(passes[0].manner, schedule=schedule))


def _run_checked(trial: Examination, manner: Manner) -> list[Sight]:
    """The sights of a run with every access checked, in the time that is left; running out of it is not a hang."""
    return [one for one in trial.run(manner, "check").sights if one.finding.kind != "hang"]


def _settle(trial: Examination, whole: list[CpuRun], sights: list[Sight]) -> list[Finding]:
    """Settle each doubtful sight by experiment, and return the findings with those that differences of runs show."""
    causes: dict[Doubt, Finding | None] = {}
    sights = _settle_program(trial, whole, sights)
    odd = list(itertools.islice(_find_odd(trial, whole), 1))
    small = [one for one in whole[1:] if not _is_on_gpu_of(whole[0], one) and trial.differ(whole[0], one)][:1]
    if whole and not odd and small and not any(one.doubt for one in sights):
        causes = {"poison": _try_poisons(trial, small)}
    elif whole and (odd or any(one.doubt for one in sights)):
        are_errors = not odd and all(one.finding.severity == "error" for one in sights if one.doubt)
        spare = max(0.0, trial.seconds - SECONDS_FOR_ERRORS) if are_errors else 0.0
        trial.seconds -= spare
        causes = {"poison": _try_poisons(trial, [*whole[:2], *odd]), "schedule": _try_orders(trial, whole[0], odd)}
        trial.seconds += spare
        if any(one.doubt == "lane" for one in sights):
            causes["lane"] = _try_lanes(trial, whole[:2])
        if any(one.doubt == "late" for one in sights):
            causes["late"] = _try_manners(trial, whole[0], [replace(whole[0].manner, late_writes=True)])
        if trial.flavour == "fast" and any(causes.values()):
            sights = _merge([*sights, *_find_culprits(trial, whole, causes)])
    sights = _note_harmless_races(trial, whole, causes, sights)
    findings = [_weigh(trial, one, causes) for one in sights if not (one.is_partial and not causes.get("poison"))]
    if whole and odd and (by_calls := _try_without_calls(trial, whole)):
        findings.append(by_calls)
    kinds = {one.kind for one in findings if one.severity == "error"}
    if (by_poison := causes.get("poison")) and not kinds & READS_UNDEFINED:
        findings.append(by_poison)
    if (by_schedule := causes.get("schedule")) and "race" not in kinds:
        findings.append(by_schedule)
    return findings


def _settle_program(trial: Examination, whole: list[CpuRun], sights: list[Sight]) -> list[Sight]:
    """The sights, without what a compiler of tiles may do: races in one program that change no answer."""
    doubts = {one.doubt for one in sights}
    if not whole or trial.seconds <= 0 or not doubts & {"reads", "copies"}:
        return sights
    cause = _try_reads(trial, whole[0].manner) if "reads" in doubts else None
    is_same = all(trial.differ(whole[0], one) is None for one in whole[1:])
    settled = []
    for one in sights:
        if one.doubt == "reads" and cause:
            message = f"{one.finding.message}; {cause.message}"
            settled.append(replace(one, doubt=None, finding=replace(one.finding, severity="error", message=message)))
        elif one.doubt == "copies" and not is_same:
            settled.append(replace(one, doubt=None))
        elif one.doubt not in ("reads", "copies"):
            settled.append(one)
    return settled


def _try_reads(trial: Examination, manner: Manner) -> Finding | None:
    """A finding if the result depends on whether a read sees a write that it races with.

    Of two runs in one order of threads only the second lets it see the value from before; in forward and reverse order
    each of two accesses is once the first.
    """
    bases = [replace(manner, schedule=one, preempt_one_in=0) for one in (Schedule.forward, Schedule.reverse)]
    causes = (_try_manners(trial, trial.try_run(one), [replace(one, late_writes=True)]) for one in bases)
    return next(filter(None, causes), None)


def _note_harmless_races(
    trial: Examination, whole: list[CpuRun], causes: dict[Doubt, Finding | None], sights: list[Sight]
) -> list[Sight]:
    """The sights; warnings of a race say which experiment failed to change the result, or what one changed."""
    if trial.flavour != "check" or not whole or trial.seconds <= 0 or not any(_is_harmless_race(one) for one in sights):
        return sights
    if "schedule" in causes:
        cause, tried = causes["schedule"], "other orders of threads"
    else:
        cause = _try_manners(trial, whole[0], [replace(whole[0].manner, late_writes=True)])
        tried = plural(len(whole), "order") + " of threads"
    late = ", and reads that see the value from before the other write"

    def add_note(sight: Sight) -> Sight:
        if not _is_harmless_race(sight):
            return sight
        is_in_shared = sight.race is not None and sight.race.in_shared  # where no read sees a write late
        note = f" (kfuzz tried {tried}{'' if is_in_shared else late}: none changes the result)"
        shown = f"; {cause.message}" if cause else note
        return replace(sight, finding=replace(sight.finding, message=sight.finding.message + shown))

    return [add_note(one) for one in sights]


def _is_harmless_race(sight: Sight) -> bool:
    """Whether this is a race that is a warning whatever an experiment shows, of accesses that late writes reach."""
    is_warning = sight.finding.severity == "warning" and sight.doubt is None
    return is_warning and sight.race is not None and sight.race.relation != Relation.in_launch_before


def _find_odd(trial: Examination, whole: list[CpuRun]) -> Iterator[CpuRun]:
    """Runs whose result differs from the first one's on the same GPU: a grid of another size may round otherwise."""
    for one in whole[1:]:
        other = one
        if not _is_on_gpu_of(whole[0], one) and trial.differ(whole[0], one) and trial.seconds > 0:
            other = trial.run(replace(one.manner, multiprocessors=whole[0].manner.multiprocessors))
        if _is_on_gpu_of(whole[0], other) and trial.differ(whole[0], other):
            yield other


def _weigh(trial: Examination, sight: Sight, causes: dict[Doubt, Finding | None]) -> Finding:
    """The finding of a sight: an error if an experiment changed the result, else as severe as before, with a note."""
    none = f"none {'that ended in time ' if trial.unended else ''}changes the result"
    if sight.doubt is None:
        return sight.finding
    cause = causes.get(sight.doubt)
    if sight.doubt == "schedule":
        shown = f"; {cause.message}" if cause else f" (kfuzz tried other orders of threads, and {none})"
        return replace(sight.finding, message=sight.finding.message + shown)
    if cause and sight.doubt == "late":
        return replace(sight.finding, severity="error", message=f"{sight.finding.message}; {cause.message}")
    if cause and cause.severity == "error":
        return replace(sight.finding, severity="error")
    if cause:
        return replace(sight.finding, message=f"{sight.finding.message} ({cause.message})")
    note = f"(kfuzz tried {TRIED[sight.doubt]}, and {none})"
    return replace(sight.finding, message=f"{sight.finding.message} {note}")


def _find_culprits(trial: Examination, whole: list[CpuRun], causes: dict[Doubt, Finding | None]) -> Iterator[Sight]:
    """Sights of the check flavour that can be the cause of a difference that an experiment has confirmed."""
    runs = [trial.run(replace(one.manner, preempt_one_in=0), "check") for one in whole[:2]]
    shown = [sight for one in runs for sight in one.sights if sight.finding.kind != "hang"]
    for sight in _add_missing_order(trial, shown, runs):
        certain = sight.finding.severity == "error" and sight.precise
        if certain or (sight.doubt is not None and causes.get(sight.doubt)):
            yield sight


def _find_difference(job: Job, left: CpuRun, right: CpuRun) -> Difference | None:
    if left.run is None or right.run is None:
        return None
    difference = first_difference(job, left.run, left.manner.poison, right.run, right.manner.poison)
    if difference is None:
        return None
    output, index, one, two = difference
    return Difference(f"{output}[{index}]", f"0x{one:08x}", f"0x{two:08x}", output, index)


def _try_poisons(trial: Examination, bases: list[CpuRun]) -> Finding | None:
    """Repeat runs with only the poison changed: a finding if the result depends on uninitialised memory."""
    for base in bases:
        for poison in POISONS:
            if poison == base.manner.poison or trial.seconds <= 0:
                continue
            other = trial.try_run(replace(base.manner, poison=poison))
            if change := trial.differ(base, other):
                message = (
                    f"{change.where} depends on uninitialised memory: it is {change.left} if that memory holds "
                    f"{base.manner.poison:08x}, and {change.right} if it holds {poison:08x}"
                )
                found = Finding("uninitialised", message, array=change.array, index=change.index)
                return name_gpu(found, base.manner)
    return None


def _try_lanes(trial: Examination, bases: list[CpuRun]) -> Finding | None:
    """Repeat runs with other values of absent lanes: an error if the result changes, a warning if only a NaN does it.

    PTX leaves the value undefined; hardware gives 0, or the last value of the lane.
    """
    ranks: list[tuple[int, Severity]] = [*((one, "error") for one in MISSING_LANES), (POISONS[0], "warning")]
    for value, severity in ranks:
        for base in bases:
            if value == base.manner.missing_lane or trial.seconds <= 0:
                continue
            if change := trial.differ(base, trial.try_run(replace(base.manner, missing_lane=value))):
                what = "only a NaN from such a lane" if severity == "warning" else "the value of such a lane"
                message = f"{what} changes {change.where}"
                found = Finding("inactive-lane", message, severity, array=change.array, index=change.index)
                return name_gpu(found, base.manner)
    return None


def _try_orders(trial: Examination, base: CpuRun, odd: list[CpuRun]) -> Finding | None:
    """Repeat a run with only the order of threads changed: a finding if the result depends on it.

    The orders include that of the run whose result differed: if poison and order were both changed, one is the cause.
    """
    same = base.manner
    known = [
        replace(one.manner, poison=same.poison, missing_lane=same.missing_lane, after_calls=same.after_calls)
        for one in odd
    ]
    return _try_manners(trial, base, [*known, *_other_orders(trial, base.manner)])


def _try_manners(trial: Examination, base: CpuRun, others: Iterable[Manner]) -> Finding | None:
    """Repeat a run in other manners until its result changes."""
    for manner in others:
        if trial.seconds <= 0:
            trial.unended += 1
            break
        other = trial.try_run(manner)
        if change := trial.differ(base, other):
            message = (
                f"{change.where} depends on the order of threads: {change.left} ({base.manner.circumstances}) "
                f"or {change.right} ({manner.circumstances})"
            )
            return Finding("nondeterministic", message, severity="warning", array=change.array, index=change.index)
    return None


def _try_without_calls(trial: Examination, whole: list[CpuRun]) -> Finding | None:
    """Repeat a run without its earlier calls: a finding if the result depends on them."""
    after = next((one for one in whole if one.manner.after_calls), None)
    if after is None or trial.seconds <= 0:
        return None
    alone = trial.run(replace(after.manner, after_calls=False))
    if change := trial.differ(alone, after):
        message = (
            f"{change.where} depends on earlier calls: it is {change.left} in a first call, and {change.right} "
            "after calls with other sizes and values"
        )
        return Finding("stateful", message, severity="warning", array=change.array, index=change.index)
    return None


def _other_orders(trial: Examination, base: Manner) -> Iterator[Manner]:
    if trial.flavour == "check":  # shows what no order of threads can, such as a missing __threadfence
        yield replace(base, late_writes=True)
    for schedule in (Schedule.forward, Schedule.reverse):
        if schedule != base.schedule:
            yield replace(base, schedule=schedule)
    turns = (0, FINE, COARSE) if trial.flavour == "check" else (0,)
    for seed, preempt in itertools.product(range(1, 4), turns):
        yield replace(base, schedule=Schedule.shuffled, seed=base.seed * 1000 + seed, preempt_one_in=preempt)


def _merge(sights: Iterable[Sight]) -> list[Sight]:
    """Each defect once, however many runs saw it, without traces in guard zones if a run saw the write itself."""
    merged: dict[tuple[object, ...], Sight] = {}
    for one in sights:
        merged.setdefault(_key(one), one)
    distinct = list(merged.values())
    caught = {one.finding.kind for one in distinct if one.precise} & LEAVES_TRACES
    return [one for one in distinct if one.precise or one.finding.kind not in caught]


def _key(sight: Sight) -> tuple[object, ...]:
    """The same for all sights of one defect."""
    f = sight.finding
    lines: tuple[tuple[str, int | None], ...] = ((f.file, f.line), (f.other_file, f.other_line))
    if f.kind == "race" and f.severity == "warning":  # which of the two came first does not matter
        lines = tuple(sorted(lines, key=str))
    return (f.kind, f.severity, lines, f.array if f.line is None else None)
