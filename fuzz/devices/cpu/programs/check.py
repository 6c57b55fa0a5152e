"""Checks a program: runs it several times, each in a process of its own, and reports what the runs prove.

Knows processes, manners and what a program prints; child.py knows how a run works inside.
Long, since a run and what it proves share the record of a program.
"""

import ctypes
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import TypeVar

from kfuzz.common.printable import shown_path
from kfuzz.devices import Call, Finding, Job, Outcome, Probe, Refusal, Run, Step
from kfuzz.devices.cpu.abi import USUAL_MULTIPROCESSORS, Assume, RawBuffer, RawFinding, RawLaunched, RawRun, Status
from kfuzz.devices.cpu.backend import uninitialised_local
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.experiments import (
    PATIENCE,
    CpuRun,
    Difference,
    Manner,
    examine,
    is_certain,
    manners,
    name_gpu,
)
from kfuzz.devices.cpu.findings import Lines, Sight, describe_sights
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.programs.ahead import RunsAhead
from kfuzz.devices.cpu.programs.call_lines import name_call_lines, name_line
from kfuzz.devices.cpu.programs.made_up import has_own_input
from kfuzz.devices.cpu.programs.messages import ProgramEnd, ProgramRun
from kfuzz.devices.cpu.programs.sampling import (
    NOTHING_CHECKED,
    NOTHING_SAMPLED,
    USUAL_SAMPLING,
    BlockSampling,
    CheckedShare,
    SampledShare,
)
from kfuzz.devices.cpu.programs.server import Printed, Server
from kfuzz.devices.cpu.unit import find_line
from kfuzz.devices.memory.layout import fewest_runs

Struct = TypeVar("Struct", bound=ctypes.Structure)

STILL = 8.0
"""Seconds of processor time for which a launch may make no progress (runtime/signals.cpp) before kfuzz asks whether it
hangs, and PATIENCE times as many before it says so. A GPU's thread is no faster than one here.
"""
LONGEST = 60
"""Messages quote at most this many characters of a printed line."""
NUMBER = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|[-+]?\b(?:inf|nan)\b")


@dataclass
class CheckedProgram:
    """A program with its arguments, and the results of its runs so far."""

    library: Library
    words: tuple[str, ...]
    timeout: float
    server: Server
    report_progress: Callable[[str], None]
    warp_synchronous: bool = False
    sampling: BlockSampling | None = USUAL_SAMPLING
    """The launches of which only a sample of blocks is checked in full; None: no launch."""
    deadline: float = inf
    """When everything ends, as time.monotonic() counts."""
    side_by_side: int = 1
    """How many runs may go on at the same time."""
    launch_within: float = inf
    """Seconds after which a run with made-up arguments or input ends that has launched nothing."""
    has_made_up_arguments: bool = False
    has_made_up_input: bool = False
    """Whether kfuzz made up its arguments, or what it has read: then no finding is more than a warning."""
    printed: list[Printed] = field(default_factory=list)
    asks_multiprocessors: bool = False
    thread_steps: int = 0
    seconds: float = 0.0
    sampled: SampledShare = NOTHING_SAMPLED
    """The share of the run that sampled most."""
    share: CheckedShare = NOTHING_CHECKED
    """The share of the run that had most launches."""
    stopped: str = ""
    """The reason why a run did not end, if that is not a finding."""
    asked: int = 1
    """The number of runs that are asked for; the others settle doubts."""
    ended: int = 0
    """How many of these have ended, by themselves or by what they found."""
    refusal: str = ""
    """The reason why kfuzz cannot run the program to its end."""

    report_finding: Callable[[Finding], None] = lambda _: None
    """Takes each certain error as soon as it is seen."""
    certain: list[Finding] = field(default_factory=list)
    """The certain errors of all runs so far, also of one that was interrupted."""

    def __post_init__(self) -> None:
        self._lines = Lines(self.library)
        self._job = job_of(self.library, self.words[0])
        self._still = min(self.timeout, STILL)
        self._seen_still = 0
        """How many runs have ended since a launch made no progress."""
        self._longest = 0.0
        """Wall time of the longest run that ended."""
        self._ahead = RunsAhead((), 0, self._run_ahead)
        self._one_at_a_time = threading.Lock()
        self._shown: ProgramEnd | None = None
        """What the first run has shown so far."""
        self._unsteady: set[str] = set()
        """The lines, without their numbers, that a run printed otherwise when it was repeated."""

    def examine(self, runs: int, seed: int) -> Outcome:
        """Run the program `runs` times, and settle by experiments what the runs show."""
        self.asked = runs
        probe = Probe(check=True, runs=runs, seed=seed, timeout=self._still)
        later = manners(probe, fewest=fewest_runs(self._job))[1:runs]
        try:
            with RunsAhead(later, self.side_by_side - 1, self._run_ahead, self.server.numbers) as self._ahead:
                outcome = examine(
                    *(self._job, probe, self.run_once, set(), self.differ, self.timeout * (runs + 1)),
                    time_left=self.time_left,
                )
        except KeyboardInterrupt:
            if self._shown and not self.printed:
                self._note_share(self._shown)
                self.stopped = self._say_where(self._shown, "the first run was interrupted")
            raise
        unset = tuple(uninitialised_local(self.library, one) for one in self.library.uninitialised)
        findings = (*outcome.findings, *unset)
        findings = tuple(
            replace(one, severity="warning") if self._is_made_up or is_end_of_host(one) else one for one in findings
        )
        return replace(outcome, findings=findings, notes=())

    @property
    def _is_made_up(self) -> bool:
        return self.has_made_up_arguments or self.has_made_up_input

    @property
    def launches(self) -> int:
        """The most launches of a run."""
        return self.share.launches

    def time_left(self) -> float:
        """Seconds until everything ends."""
        return self.deadline - time.monotonic()

    def _request(self, manner: Manner) -> ProgramRun:
        still = self._still * (PATIENCE if self._seen_still > 1 else 1)
        sampling = self.sampling or USUAL_SAMPLING
        return ProgramRun(self.library, manner, max(self.timeout, still), sampling, still)

    def _own(self, manner: Manner) -> Manner:
        """The manner with what holds for all runs of this program."""
        in_step = Assume.warps_in_step if self.warp_synchronous else 0
        return replace(manner, assume=manner.assume | in_step, whole=manner.whole or self.sampling is None)

    def _run_ahead(self, server: Server, manner: Manner) -> tuple[ProgramEnd, Printed]:
        manner = self._own(manner)
        watch = partial(self._see_certain, manner=manner)
        return server.run(self._request(manner), self.words, watch, self.deadline, self._launch_within)

    def _launch_within(self, reads_input: bool) -> float:
        is_made_up = self.has_made_up_arguments or (reads_input and not has_own_input())
        return self.launch_within if is_made_up else inf

    def run_once(self, _flavour: Flavour, manner: Manner, _seconds: float) -> CpuRun:
        """Run the program once, in a process of its own."""
        ahead, manner = self._ahead.take(manner), self._own(manner)
        if ahead is None and self._longest > self.time_left():
            return CpuRun(manner, None, (), Status.timed_out, 0.0, 0.0, "", is_cut=True)
        self.report_progress(str(manner.seen_by_host(self.asks_multiprocessors).circumstances))
        began = time.monotonic()
        watch = partial(self._watch, manner=manner)
        request = self._request(manner)
        end, printed = ahead or self.server.run(request, self.words, watch, self.deadline, self._launch_within)
        if end.is_cut and end.place is None and self._launch_within(end.reads_input) < inf:
            self.deadline = time.monotonic()
        # It has run, and may want a larger GPU than this run shows it; or this run only settles a doubt.
        is_extra = (manner.multiprocessors != USUAL_MULTIPROCESSORS or len(self.printed) >= self.asked) and any(
            one.exit_code is not None for one in self.printed
        )
        self.printed.append(printed)
        text = "\n".join(printed.lines)
        manner = manner.seen_by_host(end.asks_multiprocessors)
        self.asks_multiprocessors |= end.asks_multiprocessors
        self._note_share(end)
        self.ended += len(self.printed) <= self.asked and end.status in (Status.finished, Status.stopped)
        if end.status == Status.timed_out and not is_extra:
            self.stopped = self.stopped or self._say_where(end, self._say_why(end))
        self._seen_still += end.status == Status.timed_out and end.block_seconds > self._still / 2
        if end.refusal is not None and not is_extra:
            self.refusal = self._say(end.refusal)
        sights = self._see_certain(end, manner)
        run = Run(manner.circumstances, {}, end.seconds) if end.status == Status.finished else None
        if run and ahead is None:
            self._longest = max(self._longest, time.monotonic() - began)
        return CpuRun(
            *(manner, run, sights, end.status, end.seconds, end.block_seconds, text, None, end.asks_multiprocessors),
            is_cut=end.is_cut,
        )

    def _watch(self, end: ProgramEnd, manner: Manner) -> None:
        self._shown = end
        self._see_certain(end, manner)

    def _note_share(self, end: ProgramEnd) -> None:
        self.thread_steps += end.thread_steps
        self.seconds += end.seconds
        self.share = max(self.share, end.share, key=lambda one: (one.launches, one.blocks))
        self.sampled = max(self.sampled, end.sampled, key=lambda one: (one.blocks - one.in_full, one.skipped))

    def _see_certain(self, end: ProgramEnd, manner: Manner) -> tuple[Sight, ...]:
        """The sights of a run; the errors that no experiment can take back are reported at once, each of them once."""
        raw, findings = rebuild_run(end), read_structs(end.findings, RawFinding)
        shown = (raw.buffers[i] for i in range(raw.buffer_count)), (raw.launched[i] for i in range(raw.launched_count))
        name_call_lines([*chain(*shown), *findings], self._lines)
        self.has_made_up_input |= end.reads_input and not has_own_input()
        with self._one_at_a_time:
            sights = tuple(describe_sights(findings, self._job, self.library, self._lines, raw))
            known = {place_of(one) for one in self.certain}
            for sight in sights:
                one = sight.finding
                is_error = one.severity == "error" and not self._is_made_up and not is_end_of_host(one)
                if is_error and is_certain(sight) and sight.precise and place_of(one) not in known:
                    known.add(place_of(one))
                    self.certain.append(one)
                    self.report_finding(name_gpu(one, manner.seen_by_host(end.asks_multiprocessors)))
        return sights

    def _say_why(self, end: ProgramEnd) -> str:
        """Why a run was ended."""
        if end.is_cut:
            return "a run did not end in time"
        if end.block_seconds > self._still / 2:
            return f"a run did not end after {self._still:g} s of processor time without progress"
        return f"a run did not end after {self.timeout:g} s of processor time"

    def _say_where(self, end: ProgramEnd, why: str) -> str:
        """Where a run was when it was ended."""
        if end.place is None:
            return f"{why}: it was before its first launch"
        at = end.place
        path, line = find_line(self.library.files, name_line(at.line, self._lines))
        launch = f"launch {at.number:,} ({shown_path(path)}:{line})"
        if at.ended == at.blocks:
            return f"{why}: it was in host code after {launch}"
        return f"{why}: it was in {launch}, of which {at.ended:,} of {at.blocks:,} blocks had ended"

    def _say(self, refusal: Refusal) -> str:
        """The words of a refusal, with the author's file and line if they are known."""
        if refusal.line is None:
            return refusal.words
        path, line = find_line(self.library.files, name_line(refusal.line, self._lines))
        return f"{shown_path(path)}:{line}: {refusal.words}"

    def differ(self, left: CpuRun, right: CpuRun) -> Difference | None:
        """The difference between what two runs print, in any order of lines, if repeating each run prints the same.

        So a clock or a random number that a program prints does not count as a difference. Lines that look like one
        that a repeated run prints otherwise are not worth another run.
        """
        if left.run is None or right.run is None or (difference := find_difference(left, right)) is None:
            return None
        if find_changed_lines(left, right) <= self._unsteady or 2 * self._longest > self.time_left():
            return None
        for one in (left, right):
            again = self.run_once("check", one.manner, 0.0)
            if again.run is None:
                return None
            if changed := find_changed_lines(one, again):
                self._unsteady |= changed
                return None
        return difference


def find_difference(left: CpuRun, right: CpuRun) -> Difference | None:
    """The first line of each run that the other did not print; None if there is none."""
    if not any(alone := _lines_of_one(left, right)):
        return None
    mine, theirs = (next(iter(more), "") for more in alone)
    return Difference("the output of the program", quote_line(mine), quote_line(theirs))


def find_changed_lines(left: CpuRun, right: CpuRun) -> set[str]:
    """The lines that only one of two runs printed, without their numbers."""
    return {" ".join(NUMBER.sub("#", line).split()) for more in _lines_of_one(left, right) for line in more}


def _lines_of_one(left: CpuRun, right: CpuRun) -> tuple[Counter[str], Counter[str]]:
    """How often each line was printed by the left run alone, and by the right one."""
    one, other = (Counter(run.printed.split("\n")) for run in (left, right))
    return one - other, other - one


def quote_line(line: str) -> str:
    """A line in quotes, or words for a missing one."""
    return f"`{line if len(line) <= LONGEST else line[: LONGEST - 3] + '...'}`" if line else "no such line"


def job_of(library: Library, name: str) -> Job:
    """The job that stands for a program on the cpu device: its texts, and main as a host function."""
    call = Call("main", (), (), on_host=True)
    text = "\n".join(one.text for one in library.files.values())
    step = Step(call, (1, 1, 1), (1, 1, 1), 0, ())
    return Job(name, Path(name), text, (), 256, (), (step,), (call,))


def is_end_of_host(finding: Finding) -> bool:
    """Whether the program's own host code crashes, past device memory: a missing file may be the cause."""
    return finding.kind == "trap" and finding.thread is None


def place_of(finding: Finding) -> tuple[object, ...]:
    """The kind of a finding and its lines."""
    return finding.kind, finding.file, finding.line, finding.other_file, finding.other_line


def rebuild_run(end: ProgramEnd) -> RawRun:
    """The runtime's struct after a run, with its arrays and launches."""
    buffers, launched = read_structs(end.buffers, RawBuffer), read_structs(end.launched, RawLaunched)
    return RawRun(
        buffers=(RawBuffer * max(1, len(buffers)))(*buffers),
        buffer_count=len(buffers),
        launched=(RawLaunched * max(1, len(launched)))(*launched),
        launched_count=len(launched),
    )


def read_structs(raw: bytes, kind: type[Struct]) -> list[Struct]:
    """The structs that lie in these bytes."""
    size = ctypes.sizeof(kind)
    return [kind.from_buffer_copy(raw, at) for at in range(0, len(raw), size)]
