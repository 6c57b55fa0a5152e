"""Starts the runs of a program, each in a process of its own, and ends each of them in time, however it behaves.

Knows processes, time and memory; check.py knows what a run proves.
"""

import contextlib
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path

from kfuzz.devices import Refusal, UnexpectedError, cache, processes
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.abi import Status
from kfuzz.devices.cpu.programs.child import read_count, read_live_run
from kfuzz.devices.cpu.programs.made_up import NUMBERS, standard_input
from kfuzz.devices.cpu.programs.messages import OWN_FAULT, ProgramEnd, ProgramRun, RequestFiles
from kfuzz.devices.host_compiler import find_compiler

LOOK_EVERY = 0.5
"""Seconds between two looks at what a run has found so far, and at the memory that is left."""
SLACK, GRACE = 6.0, 20.0
"""A run may take SLACK times its time-out plus GRACE seconds of wall time, since it may sleep or share the CPU."""
MOST_PRINTED = 1 << 20
NOT_BEGUN = ProgramEnd(b"", b"", b"", Status.timed_out, 0, 0.0, 0.0, 0, 0)
"""The result of a run whose process has not come to the program's main."""
LEAST_MEMORY, RESERVE_ONE_IN = 1 << 30, 32
"""A run ends once less memory is left than the smaller of these: a processor touches 2 GB in a second."""


NICE = 5
"""The priority of runs beside the first one: on a busy machine they get a third of its time."""
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""For the arrays of the host: a GB is a quarter of a million small pages, each of which is found by a fault."""


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


class OutOfMemoryError(Exception):
    """The machine has hardly any memory left."""


class Server:
    """The process from which runs are forked; a new one replaces it after a run that did not end."""

    def __init__(
        self, reserve_one_in: int = RESERVE_ONE_IN, gives_way: bool = False, numbers: tuple[int, ...] = NUMBERS
    ) -> None:
        """`gives_way`: other runs come first; a run without memory is none, and raises OutOfMemoryError.

        `numbers` are for programs that read their standard input.
        """
        self._process: subprocess.Popen[bytes] | None = None
        self.numbers = numbers
        self._input = os.open(standard_input(numbers), os.O_RDONLY)
        weakref.finalize(self, os.close, self._input)
        self._reserve_one_in, self._gives_way = reserve_one_in, gives_way

    def run(
        self,
        request: ProgramRun,
        words: tuple[str, ...],
        watch: Callable[[ProgramEnd], object] = lambda _: None,
        deadline: float = inf,
        launch_within: Callable[[bool], float] = lambda _: inf,
    ) -> tuple[ProgramEnd, Printed]:
        """Run a program, and return how it ended and what it printed.

        A run ends by the deadline, as time.monotonic() counts, with what it has shown until then. `watch` takes what a
        run that goes on, or that is interrupted, has shown so far whenever it has a new finding. `launch_within` takes
        whether the run has read its input, and returns the seconds after which it ends without a launch.
        """
        with cache.scratch() as folder:
            ask, answer, output, errors = (folder / name for name in ("ask", "answer", "output", "errors"))
            live = folder / "live"
            ask.write_bytes(pickle.dumps(request))
            os.lseek(self._input, 0, os.SEEK_SET)
            places = (str(ask), str(answer), str(output), str(errors), os.getcwd(), str(live))
            files = RequestFiles(list(words), *places, self._input)
            deadline = min(deadline, time.monotonic() + request.seconds * SLACK + GRACE)
            why = ""
            try:
                look = _LiveWatcher(live, lambda shown: watch(replace(shown, reads_input=self._reads_input())))
                status = self._status(files, deadline, look, launch_within)
            except OutOfMemoryError:
                if self._gives_way:
                    raise
                status, why = None, "its process needs more memory than this machine has left"
            texts = [_read_start(path) for path in (output, errors)]
            if answer.is_file():
                end: ProgramEnd = pickle.loads(answer.read_bytes())  # noqa: S301  the same user wrote it
            elif status == OWN_FAULT:
                raise UnexpectedError(f"kfuzz itself failed: {texts[1].strip().splitlines()[-1]}")
            else:
                why = why if status is None else describe_status(status)
                end = read_live_run(live) or NOT_BEGUN
                end = replace(end, status=Status.refused, refusal=Refusal(why)) if why else replace(end, is_cut=True)
            end = replace(end, reads_input=self._reads_input())
            exit_code = end.exit_code if end.status == Status.finished else None
            return end, Printed(texts[0], texts[1], exit_code)

    def _status(
        self, request: RequestFiles, deadline: float, look: "_LiveWatcher", launch_within: Callable[[bool], float]
    ) -> int | None:
        """The exit status of the process of a run; None if it did not end in time."""
        process = self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
            process.stdin.flush()
            while (left := deadline - time.monotonic()) > 0:
                if select.select([process.stdout], [], [], min(left, LOOK_EVERY))[0]:
                    if line := process.stdout.readline():
                        return int(line)
                    break
                look.at_findings()
                if look.count_seconds() > launch_within(self._reads_input()) and not look.has_launched():
                    break
                self._expect_memory()
        except BaseException:
            self.close()
            look.at_all()
            raise
        self.close()
        return None

    def start(self) -> subprocess.Popen[bytes]:
        """Its process, which loads what a run needs: it may do so while a compiler runs."""
        if self._process is None:
            environment = {**LARGE_PAGES, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            command = [sys.executable, "-m", "kfuzz.devices.cpu.programs.child"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
                pass_fds=[self._input],
            )
            if self._gives_way:
                os.setpriority(os.PRIO_PROCESS, self._process.pid, NICE)
        return self._process

    def _reads_input(self) -> bool:
        return os.lseek(self._input, 0, os.SEEK_CUR) > 0

    def _expect_memory(self) -> None:
        """Raise OutOfMemoryError before the system ends whichever process it likes."""
        with contextlib.suppress(OSError, KeyError, ValueError):
            fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
            total, left = (int(fields[name].split()[0]) << 10 for name in ("MemTotal", "MemAvailable"))
            reserve = total // self._reserve_one_in
            if left < (reserve if self._gives_way else min(LEAST_MEMORY, reserve)):
                raise OutOfMemoryError

    def end(self) -> None:
        """End the processes, while another thread waits for them."""
        if process := self._process:
            processes.end([*processes.descendants(process.pid), process.pid])

    def close(self) -> None:
        """End the process and all processes that it has started."""
        if process := self._process:
            self.end()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        self._process = None


class _LiveWatcher:
    """Passes on what a run in another process shows."""

    def __init__(self, live: Path, watch: Callable[[ProgramEnd], object]) -> None:
        self._live, self._watch, self._count, self._began = live, watch, 0, inf

    def at_findings(self) -> None:
        """Look whether there are more findings than at the last look: to read all of the structs takes its time."""
        if (count := read_count(self._live, "finding_count")) != self._count:
            self._count = count
            self.at_all()

    def count_seconds(self) -> float:
        """Seconds since the run was seen to have begun: to start its process takes long on a busy machine."""
        if self._live.exists():
            self._began = min(self._began, time.monotonic())
        return max(0.0, time.monotonic() - self._began)

    def has_launched(self) -> bool:
        return read_count(self._live, "launches_begun") > 0

    def at_all(self) -> None:
        if shown := read_live_run(self._live):
            self._watch(shown)


def _read_start(path: Path) -> str:
    """The start of what a run printed: it may print for ever."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        return file.read(MOST_PRINTED).decode(errors="replace")
    return ""


def build_own_parts() -> None:
    """Build the parts of each program that are kfuzz's own, which happens once on a machine."""
    toolchain.build_runtime()
    toolchain.build_program_objects(find_compiler(), "check")


def describe_status(status: int) -> str:
    """How a process ended past the checker. That proves nothing about the program: it may have run out of memory."""
    names = {-one: f"by {one.name}" for one in signal.Signals}
    how = names.get(status, f"by signal {-status}") if status < 0 else f"with exit status {status}"
    return f"its process ended {how}, past the checker" + (", as without memory" if status == -signal.SIGKILL else "")
