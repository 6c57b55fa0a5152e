"""Checks a program: runs it several times, each in a process of its own, and reports what the runs prove.

Knows processes, manners and what a program prints; child.py knows how a run works inside.
Long, since a run and what it proves share the record of a program.
"""

import contextlib
import ctypes
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from kfuzz.common.printable import shown_path
from kfuzz.devices import Call, Finding, Job, Outcome, Probe, Refusal, Run, Step, UnexpectedError, cache, processes
from kfuzz.devices.cpu.abi import USUAL_MULTIPROCESSORS, Assume, RawBuffer, RawFinding, RawLaunched, RawRun, Status
from kfuzz.devices.cpu.backend import uninitialised_local
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.experiments import CpuRun, Difference, Manner, examine, name_gpu
from kfuzz.devices.cpu.findings import Lines, Sight, describe_sights
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.programs.child import read_live_run
from kfuzz.devices.cpu.programs.messages import OWN_FAULT, ProgramEnd, ProgramRun, RequestFiles
from kfuzz.devices.cpu.programs.sampling import NOTHING_SAMPLED, USUAL_SAMPLING, BlockSampling, SampledShare
from kfuzz.devices.cpu.unit import find_line

Struct = TypeVar("Struct", bound=ctypes.Structure)

LOOK_EVERY = 2.0
"""Seconds between two looks at what a run has found so far."""
SLACK, GRACE = 6.0, 20.0
"""A run may take SLACK times its time-out plus GRACE seconds of wall time, since it may sleep or share the CPU."""
MOST_PRINTED = 1 << 20
LONGEST = 60
"""Messages quote at most this many characters of a printed line."""


@dataclass(frozen=True)
class Printed:
    """The output and exit code of a run of a program; no exit code if the checker stopped it."""

    output: str
    errors: str
    exit_code: int | None

    @property
    def lines(self) -> list[str]:
        """All of it, line by line."""
        return [*self.output.splitlines(), *self.errors.splitlines(), f"exit code {self.exit_code}"]


class Server:
    """The process from which runs are forked; a new one replaces it after a run that did not end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self, request: ProgramRun, words: tuple[str, ...], watch: Callable[[ProgramEnd], object] = lambda _: None
    ) -> tuple[ProgramEnd | str | None, Printed]:
        """Run a program, and return how it ended and what it printed.

        None stands for a process that was too slow, and words for one that ended past the checker. `watch` takes what a
        run that still goes on, or that is interrupted, has shown so far.
        """
        with cache.scratch() as folder:
            ask, answer, output, errors = (folder / name for name in ("ask", "answer", "output", "errors"))
            live = folder / "live"
            ask.write_bytes(pickle.dumps(request))
            files = RequestFiles(list(words), *map(str, (ask, answer, output, errors, live)))
            status = self._status(files, request.seconds * SLACK + GRACE, lambda: _watch_live(live, watch))
            texts = [path.read_bytes()[:MOST_PRINTED].decode(errors="replace") for path in (output, errors)]
            end: ProgramEnd | str | None = None
            if answer.is_file():
                end = pickle.loads(answer.read_bytes())  # noqa: S301  the same user wrote it
            elif status == OWN_FAULT:
                raise UnexpectedError(f"kfuzz itself failed: {texts[1].strip().splitlines()[-1]}")
            elif status is not None:
                end = describe_status(status)
            exit_code = end.exit_code if isinstance(end, ProgramEnd) and end.status == Status.finished else None
            return end, Printed(texts[0], texts[1], exit_code)

    def _status(self, request: RequestFiles, seconds: float, look: Callable[[], None]) -> int | None:
        """The exit status of the process of a run; None if it did not end in time."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
            process.stdin.flush()
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                if select.select([process.stdout], [], [], min(left, LOOK_EVERY))[0]:
                    if line := process.stdout.readline():
                        return int(line)
                    break
                look()
        except BaseException:
            self.close()
            look()
            raise
        self.close()
        look()
        return None

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            command = [sys.executable, "-m", "kfuzz.devices.cpu.programs.child"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
            )
        return self._process

    def close(self) -> None:
        """End the process and all processes that it has started."""
        if process := self._process:
            processes.end([*processes.descendants(process.pid), process.pid])
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        self._process = None


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
    printed: list[Printed] = field(default_factory=list)
    asks_multiprocessors: bool = False
    thread_steps: int = 0
    seconds: float = 0.0
    launches: int = 0
    sampled: SampledShare = NOTHING_SAMPLED
    """The share of the run that sampled most."""
    stopped: str = ""
    """The reason why a run did not end, if that is not a finding."""
    asked: int = 1
    """The number of runs that are asked for; the others settle doubts."""
    refusal: str = ""
    """The reason why kfuzz cannot run the program to its end."""

    report_finding: Callable[[Finding], None] = lambda _: None
    """Takes each certain error as soon as it is seen."""
    certain: list[Finding] = field(default_factory=list)
    """The certain errors of all runs so far, also of one that was interrupted."""

    def __post_init__(self) -> None:
        self._lines = Lines(self.library)
        self._job = job_of(self.library, self.words[0])

    def examine(self, runs: int, seed: int) -> Outcome:
        """Run the program `runs` times, and settle by experiments what the runs show."""
        self.asked = runs
        probe = Probe(check=True, runs=runs, seed=seed, timeout=self.timeout)
        outcome = examine(self._job, probe, self.run_once, set(), self.differ, self.timeout * (runs + 1))
        unset = tuple(uninitialised_local(self.library, one) for one in self.library.uninitialised)
        return replace(outcome, findings=(*outcome.findings, *unset), notes=())

    def run_once(self, _flavour: Flavour, manner: Manner, _seconds: float) -> CpuRun:
        """Run the program once, in a process of its own."""
        self.report_progress(str(manner.seen_by_host(self.asks_multiprocessors).circumstances))
        in_step = Assume.warps_in_step if self.warp_synchronous else 0
        manner = replace(manner, assume=manner.assume | in_step, whole=manner.whole or self.sampling is None)
        request = ProgramRun(self.library, manner, self.timeout, self.sampling or USUAL_SAMPLING)
        end, printed = self.server.run(request, self.words, lambda end: self._see_certain(end, manner))
        # It has run, and may want a larger GPU than this run shows it; or this run only settles a doubt.
        is_extra = (manner.multiprocessors != USUAL_MULTIPROCESSORS or len(self.printed) >= self.asked) and any(
            one.exit_code is not None for one in self.printed
        )
        self.printed.append(printed)
        text = "\n".join(printed.lines)
        if end is None:
            if not is_extra:
                self.stopped = f"a run did not end after {self.timeout:g} s of processor time: it was waiting"
            return CpuRun(manner, None, (), Status.timed_out, self.timeout, 0.0, text)
        if isinstance(end, str):
            self.refusal = end
            return CpuRun(manner, None, (), Status.refused, 0.0, 0.0, text)
        manner = manner.seen_by_host(end.asks_multiprocessors)
        self.asks_multiprocessors |= end.asks_multiprocessors
        self.thread_steps += end.thread_steps
        self.seconds += end.seconds
        self.launches = max(self.launches, end.launches)
        self.sampled = max(self.sampled, end.sampled, key=lambda one: (one.blocks - one.in_full, one.skipped))
        if end.status == Status.timed_out and not is_extra:
            self.stopped = f"a run did not end after {self.timeout:g} s of processor time"
        if end.refusal is not None and not is_extra:
            self.refusal = self._say(end.refusal)
        sights = self._see_certain(end, manner)
        run = Run(manner.circumstances, {}, end.seconds) if end.status == Status.finished else None
        return CpuRun(
            manner, run, sights, end.status, end.seconds, end.block_seconds, text, None, end.asks_multiprocessors
        )

    def _see_certain(self, end: ProgramEnd, manner: Manner) -> tuple[Sight, ...]:
        """The sights of a run; the errors that no experiment can take back are reported at once, each of them once."""
        raw, findings = rebuild_run(end), read_structs(end.findings, RawFinding)
        sights = tuple(describe_sights(findings, self._job, self.library, self._lines, raw))
        known = {place_of(one) for one in self.certain}
        for sight in sights:
            one = sight.finding
            is_certain = (
                one.severity == "error" and one.kind != "hang" and (sight.doubt is None or sight.race is not None)
            )
            if is_certain and sight.precise and place_of(one) not in known:
                known.add(place_of(one))
                self.certain.append(one)
                self.report_finding(name_gpu(one, manner.seen_by_host(end.asks_multiprocessors)))
        return sights

    def _say(self, refusal: Refusal) -> str:
        """The words of a refusal, with the author's file and line if they are known."""
        if refusal.line is None:
            return refusal.words
        path, line = find_line(self.library.files, refusal.line)
        return f"{shown_path(path)}:{line}: {refusal.words}"

    def differ(self, left: CpuRun, right: CpuRun) -> Difference | None:
        """The difference between what two runs print, in any order of lines, if repeating each run prints the same.

        So a clock or a random number that a program prints does not count as a difference.
        """
        if left.run is None or right.run is None or (difference := find_difference(left, right)) is None:
            return None
        again = [self.run_once("check", one.manner, 0.0) for one in (left, right)]
        is_same = all(find_difference(one, other) is None for one, other in zip((left, right), again, strict=True))
        return difference if is_same else None


def _watch_live(live: Path, watch: Callable[[ProgramEnd], object]) -> None:
    if shown := read_live_run(live):
        watch(shown)


def find_difference(left: CpuRun, right: CpuRun) -> Difference | None:
    """The first line of each run that the other did not print; None if there is none."""
    one, other = (Counter(run.printed.split("\n")) for run in (left, right))
    if one == other:
        return None
    mine, theirs = (next(iter(more.elements()), "") for more in (one - other, other - one))
    return Difference("the output of the program", quote_line(mine), quote_line(theirs))


def quote_line(line: str) -> str:
    """A line in quotes, or words for a missing one."""
    return f"`{line if len(line) <= LONGEST else line[: LONGEST - 3] + '...'}`" if line else "no such line"


def job_of(library: Library, name: str) -> Job:
    """The job that stands for a program on the cpu device: its texts, and main as a host function."""
    call = Call("main", (), (), on_host=True)
    text = "\n".join(one.text for one in library.files.values())
    step = Step(call, (1, 1, 1), (1, 1, 1), 0, ())
    return Job(name, Path(name), text, (), 256, (), (step,), (call,))


def place_of(finding: Finding) -> tuple[object, ...]:
    """The kind of a finding and its lines."""
    return finding.kind, finding.file, finding.line, finding.other_file, finding.other_line


def describe_status(status: int) -> str:
    """How a process ended past the checker. That proves nothing about the program: it may have run out of memory."""
    how = f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"
    return f"its process ended {how}, past the checker" + (", as without memory" if status == -signal.SIGKILL else "")


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
