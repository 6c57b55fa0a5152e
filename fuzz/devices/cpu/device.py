"""The cpu device: runs the same `.cu` file under the host's C++ compiler, on any Linux machine.

This part runs in the caller's process: it checks the launches of a job and passes the job to a worker process
(backend.py).
"""

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

from kfuzz.devices import TEXT, ClaimError, DeviceError, Job, Outcome, Probe, Step, host_compiler
from kfuzz.devices.cpu.questions import CpuQuestion
from kfuzz.devices.limits import BLOCK_MAX, GRID_MAX, SHARED_MAX, THREADS_MAX
from kfuzz.devices.sandbox.box import in_force
from kfuzz.devices.worker.helping import is_boxed
from kfuzz.devices.worker.nursery import Nursery, lasting_nursery, start_helped
from kfuzz.devices.worker.worker import Started, Worker, environment, start_command
from kfuzz.oracle.numbers.plural import plural

BACKEND = "kfuzz.devices.cpu.backend"
SLACK, GRACE = 12.0, 20.0
"""The worker itself measures processor time and can name the line that hangs. Wall time is longer if other processes
share the processor, and if another run has to explain a time-out. After SLACK times the time-out plus GRACE seconds,
kfuzz kills the process."""


class CpuDevice:
    """Runs jobs on this machine's processor, in one worker process. Parallel trials are parallel devices."""

    name = "cpu"

    def __init__(self, through: str = "") -> None:
        self._through = through
        self._refused: dict[tuple[str, str], ClaimError] = {}
        """Texts that g++ does not take, of kernels that are run through another compiler."""
        host_compiler.find_compiler()
        self._nurseries: set[Nursery] = set()
        """Those of its processes, which they may not outlive."""
        self._worker = Worker(BACKEND, grace=GRACE, slack=SLACK, start=self._start, watches_idle=not is_boxed())
        self._asked: deque[tuple[Job, Probe, ClaimError | None]] = deque()

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job to its end or to its time-out; raise only ClaimError or DeviceError."""
        if job.through == TEXT:
            return self._run_text(replace(job, through=""), probe)
        return self._run(self._as_run(job), probe)

    def _run(self, job: Job, probe: Probe) -> Outcome:
        for step in job.steps:
            check_launch(job, step)
        return self._sure(job, probe, lambda: self._worker.run(job, probe))

    def _run_text(self, job: Job, probe: Probe) -> Outcome:
        """Run a job without the device's compiler. What g++ does not take is not compiled in each trial again."""
        key = (str(job.path), job.source)
        if key in self._refused:
            raise self._refused[key]
        try:
            return self._run(job, probe)
        except ClaimError as error:
            self._refused[key] = error
            raise

    def find_store(self, job: Job, probe: Probe, array: str, index: int) -> tuple[str, int] | None:
        """The line that stored an element of an array."""
        return self.run(job, replace(probe, options=(CpuQuestion(watch=(array, index)),))).stored

    def ask(self, job: Job, probe: Probe) -> None:
        """Start a job if a GPU would accept its launches."""
        job, wrong = self._as_run(job), None
        try:
            for step in job.steps:
                check_launch(job, step)
            self._worker.ask(job, probe)
        except ClaimError as error:
            wrong = error
        self._asked.append((job, probe, wrong))

    def _as_run(self, job: Job) -> Job:
        """The job with what its text goes through first."""
        return replace(job, through=self._through) if self._through and not job.through else job

    def answer(self) -> Outcome:
        """The outcome of the oldest job that `ask` started."""
        job, probe, wrong = self._asked.popleft()
        if wrong is not None:
            raise wrong
        return self._sure(job, probe, self._worker.answer)

    def forget(self) -> None:
        """Drop the jobs that `ask` started."""
        self._worker.forget()
        self._asked.clear()

    def close(self) -> None:
        """End the worker. A closed device is not used again."""
        self._worker.close()
        self._nurseries.clear()

    def _start(self, module: str) -> Started:
        """Start a process: the first by a command, and each further one as a fork, which takes a tenth of the time."""
        return start_process(module, self._nurseries)

    def _sure(self, job: Job, probe: Probe, first: Callable[[], Outcome]) -> Outcome:
        """The outcome of a job. If the process ended, an earlier job may have damaged it, so only a run in a new
        process counts, except for a kernel that is known to end its process.
        """
        outcome = self._first_sure(job, probe, first)
        other_ways = (TEXT,) if job.through and job.through == self._through else ()
        return replace(outcome, through=job.through, other_ways=other_ways) if job.through else outcome

    def _first_sure(self, job: Job, probe: Probe, first: Callable[[], Outcome]) -> Outcome:
        try:
            outcome = first()
        except DeviceError:
            return self._worker.first(job, probe)
        kinds = {one.kind for one in outcome.findings}
        if outcome.ended and not outcome.runs and kinds != {"hang"} and not kinds <= {*probe.fatal}:
            return self._worker.first(job, probe)
        return outcome

    def __enter__(self) -> "CpuDevice":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def start_process(module: str, nurseries: set[Nursery], at_once: bool = False) -> Started:
    """Start a process for kernels, in a sandbox if one is in force; it keeps its nursery among these.

    The first is started by a command, as are all that are wanted `at_once`: a fork of it would be one more.
    """
    if is_boxed():
        return start_helped(module)
    these = in_force()
    if these is None and (at_once or next(_STARTS) == 0):
        return start_command(module)
    variables = environment(is_boxed=these is not None)
    nursery = lasting_nursery([BACKEND], these is not None, variables)
    nurseries.add(nursery)
    return nursery.start(module, variables, these.box() if these else None)


_STARTS = itertools.count()
"""How many worker processes this process has started."""


def check_launch(job: Job, step: Step) -> None:
    """Raise a ClaimError if no GPU would accept the launch."""
    where = f"{job.path}: {step.entry}"
    if not all(1 <= size <= limit for size, limit in zip(step.grid, GRID_MAX, strict=True)):
        raise ClaimError(f"{where}: grid {step.grid}: each side is at least 1 and at most {GRID_MAX}")
    threads = step.block[0] * step.block[1] * step.block[2]
    fits = all(1 <= size <= limit for size, limit in zip(step.block, BLOCK_MAX, strict=True))
    if not fits or threads > THREADS_MAX:
        raise ClaimError(
            f"{where}: block {step.block}: {plural(threads, 'thread')}; at most {THREADS_MAX}, {BLOCK_MAX} a side"
        )
    if not 0 <= step.shared <= SHARED_MAX:
        raise ClaimError(f"{where}: {plural(step.shared, 'byte')} of dynamic shared memory; at most {SHARED_MAX}")
