"""A program under the checker: several runs, each in a process of its own, and what they prove.

Knows processes, manners and what a program prints; how a run goes on inside, child.py knows.
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
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from kfuzz.cpu.abi import Assume, RawBuffer, RawFinding, RawLaunched, RawRun, Status
from kfuzz.cpu.backend import uninitialised_local
from kfuzz.cpu.compiler import Library
from kfuzz.cpu.experiments import CpuRun, Difference, Manner, examine
from kfuzz.cpu.findings import Lines, Sight, describe_sights
from kfuzz.cpu.options import Flavour
from kfuzz.devices import Call, Finding, Job, Outcome, Probe, Run, Step, UnexpectedError, cache, processes
from kfuzz.programs.messages import OWN_FAULT, ProgramEnd, ProgramRun, Request

Struct = TypeVar("Struct", bound=ctypes.Structure)

SLACK, GRACE = 6.0, 20.0
"""Wall time beyond the processor time that a run is given: others share the processor, and a program may sleep."""
MOST_PRINTED = 1 << 20
LONGEST = 60
"""Characters of a printed line that are told."""


@dataclass(frozen=True)
class Printed:
    """What a run of a program left where people see it; no exit code where the checker has stopped it."""

    output: str
    errors: str
    exit_code: int | None

    @property
    def lines(self) -> list[str]:
        """All of it, line by line."""
        return [*self.output.splitlines(), *self.errors.splitlines(), f"exit code {self.exit_code}"]


class Server:
    """The process that runs are forked from; it is started anew when one of them did not come to its end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, asked: ProgramRun, words: tuple[str, ...]) -> tuple[ProgramEnd | Finding | None, Printed]:
        """How a run ended, and what it printed; None where time was up for the whole process."""
        with cache.scratch() as folder:
            ask, answer, output, errors = (folder / name for name in ("ask", "answer", "output", "errors"))
            ask.write_bytes(pickle.dumps(asked))
            request = Request(list(words), *map(str, (ask, answer, output, errors)))
            status = self._status(request, asked.seconds * SLACK + GRACE)
            texts = [path.read_bytes()[:MOST_PRINTED].decode(errors="replace") for path in (output, errors)]
            end: ProgramEnd | Finding | None = None
            if answer.is_file():
                end = pickle.loads(answer.read_bytes())  # noqa: S301  its writer runs as we do
            elif status == OWN_FAULT:
                raise UnexpectedError(f"kfuzz itself failed: {texts[1].strip().splitlines()[-1]}")
            elif status is not None:
                end = finding_of_status(status)
            exit_code = end.exit_code if isinstance(end, ProgramEnd) and end.status == Status.finished else None
            return end, Printed(texts[0], texts[1], exit_code)

    def _status(self, request: Request, seconds: float) -> int | None:
        """The exit status of the process that this was run in; None where it was not at its end in time."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
            process.stdin.flush()
            if select.select([process.stdout], [], [], seconds)[0] and (line := process.stdout.readline()):
                return int(line)
        except BaseException:
            self.close()
            raise
        self.close()
        return None

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            command = [sys.executable, "-m", "kfuzz.programs.child"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
            )
        return self._process

    def close(self) -> None:
        """End it, with all that it has started."""
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
    """A program with its arguments, and what its runs have shown so far."""

    library: Library
    words: tuple[str, ...]
    timeout: float
    server: Server
    tell: Callable[[str], None]
    warp_synchronous: bool = False
    printed: list[Printed] = field(default_factory=list)
    thread_steps: int = 0
    seconds: float = 0.0
    launches: int = 0
    stopped: str = ""
    """Why a run did not come to its end, where that is no finding."""

    def __post_init__(self) -> None:
        self._lines = Lines(self.library)
        self._job = job_of(self.library, self.words[0])

    def examine(self, runs: int, seed: int) -> Outcome:
        """Run it as often, and look into what that shows."""
        probe = Probe(check=True, runs=runs, seed=seed, timeout=self.timeout)
        found = examine(self._job, probe, self.run_once, set(), self.differ, self.timeout * (runs + 1))
        unset = tuple(uninitialised_local(self.library, one) for one in self.library.uninitialised)
        return replace(found, findings=(*found.findings, *unset), notes=())

    def run_once(self, _flavour: Flavour, manner: Manner, _seconds: float) -> CpuRun:
        """One run of it in a process of its own, for as long as each may take."""
        self.tell(str(manner.circumstances))
        in_step = Assume.warps_in_step if self.warp_synchronous else 0
        asked = ProgramRun(self.library, replace(manner, assume=manner.assume | in_step), self.timeout)
        end, printed = self.server.run(asked, self.words)
        self.printed.append(printed)
        text = "\n".join(printed.lines)
        if end is None:
            self.stopped = f"a run was not at its end after {self.timeout:g} s of processor time, and waited for more"
            return CpuRun(manner, None, (), Status.timed_out, self.timeout, 0.0, text)
        if isinstance(end, Finding):
            return CpuRun(manner, None, (Sight(end, None, False),), Status.stopped, 0.0, 0.0, text)
        self.thread_steps += end.thread_steps
        self.seconds += end.seconds
        self.launches = max(self.launches, end.launches)
        if end.status == Status.timed_out:
            self.stopped = f"a run was not at its end after {self.timeout:g} s of processor time"
        raw, findings = rebuild_run(end), read_structs(end.findings, RawFinding)
        sights = tuple(describe_sights(findings, self._job, self.library, self._lines, raw))
        run = Run(manner.circumstances, {}, end.seconds) if end.status == Status.finished else None
        return CpuRun(manner, run, sights, end.status, end.seconds, end.block_seconds, text)

    def differ(self, left: CpuRun, right: CpuRun) -> Difference | None:
        """What two runs print apart from each other, in any order of lines, where it is the same when each is run anew.

        So a clock or a random number that a program prints is no difference between threads.
        """
        if left.run is None or right.run is None or (found := find_difference(left, right)) is None:
            return None
        again = [self.run_once("check", one.manner, 0.0) for one in (left, right)]
        is_same = all(find_difference(one, other) is None for one, other in zip((left, right), again, strict=True))
        return found if is_same else None


def find_difference(left: CpuRun, right: CpuRun) -> Difference | None:
    """The first line of each that the other has not printed."""
    one, other = (Counter(run.printed.split("\n")) for run in (left, right))
    if one == other:
        return None
    mine, theirs = (next(iter(more.elements()), "") for more in (one - other, other - one))
    return Difference("what the program prints", quote_line(mine), quote_line(theirs))


def quote_line(line: str) -> str:
    """A line in quotes, or that there is none."""
    return f"`{line if len(line) <= LONGEST else line[: LONGEST - 3] + '...'}`" if line else "no such line"


def job_of(library: Library, name: str) -> Job:
    """What the rest of the device has to know of a program: its texts, and that the host launches."""
    call = Call("main", (), (), on_host=True)
    text = "\n".join(one.text for one in library.files.values())
    step = Step(call, (1, 1, 1), (1, 1, 1), 0, ())
    return Job(name, Path(name), text, (), 256, (), (step,), (call,))


def finding_of_status(status: int) -> Finding:
    """What the end of a process says of the program that ran in it."""
    how = f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}, past the checker"
    return Finding("trap", f"the program ended its process {how}")


def rebuild_run(end: ProgramEnd) -> RawRun:
    """The runtime's own struct as it was when the run ended, as far as it tells of arrays and launches."""
    buffers, launched = read_structs(end.buffers, RawBuffer), read_structs(end.launched, RawLaunched)
    return RawRun(
        buffers=(RawBuffer * max(1, len(buffers)))(*buffers),
        buffer_count=len(buffers),
        launched=(RawLaunched * max(1, len(launched)))(*launched),
        launched_count=len(launched),
    )


def read_structs(raw: bytes, kind: type[Struct]) -> list[Struct]:
    """The structs that these bytes are."""
    size = ctypes.sizeof(kind)
    return [kind.from_buffer_copy(raw, at) for at in range(0, len(raw), size)]
