"""Opens the device that a command line names, or the best one of this machine.

Knows which devices exist; each device knows its own requirements.
"""

import os
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType

from kfuzz.campaign.campaign import Lane
from kfuzz.devices import CALLER, LAUNCHER, Ahead, Device, DeviceError, Job, Locating, Outcome, Probe, Runner, Together
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.memory.machine_memory import share_of
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.real_torch import NAME, RealTorch, check_torch
from kfuzz.devices.vendors import vendor

NAMES = ("auto", "cpu", "gpu")
MOST_ON_A_GPU = 18
"""Processes that feed one GPU, unless you ask for more: their contexts take turns there. On an H200 with 16
cores 14 of them ran 3,149 trials a second, 18 in the same run 3,520, and 22 of them 2,441."""

TRIALS_A_COMPILATION, TRIALS_A_PROCESS = 20, 50
"""Processor time in trials. On a core that ran 120 trials a second, a kernel was compiled in .15 s in two flavours, and
a process with its device started in .45 s."""


@dataclass(frozen=True)
class Opening:
    """How a device of a name is opened, as `open_device` describes it."""

    name: str
    sanitize: bool = False
    guard_all: bool = False
    share: int = 1
    family: str = ""
    through: str = ""


def open_launcher(how: Opening) -> Device:
    """What launches kernels on the cpu or the gpu."""
    return vendor().open_device(how.sanitize) if how.name == "gpu" else CpuDevice(how.through)


def open_caller(how: Opening) -> Device:
    """The processes that call Python functions."""
    return PythonDevice(how.name, how.guard_all, share_of(how.share), family=how.family)


OPENERS: Mapping[Runner, Callable[[Opening], Device]] = {LAUNCHER: open_launcher, CALLER: open_caller}
"""How the device for each kind of job is opened."""


class NamedDevice:
    """The device of a name: each job goes to the part that runs its kind, kernels to the cpu or the gpu.

    Each part is opened for its first job: to fuzz callables alone you need neither g++ nor nvcc.
    """

    def __init__(
        self,
        name: str,
        sanitize: bool = False,
        guard_all: bool = False,
        share: int = 1,
        family: str = "",
        through: str = "",
    ) -> None:
        self.name = name
        self._how = Opening(name, sanitize, guard_all, share, family, through)
        self._parts: dict[Runner, Device] = {}
        self._pending: deque[tuple[Job, Probe]] = deque()

    def part(self, runner: Runner) -> Device:
        """The part that runs one kind of job."""
        if runner not in self._parts:
            self._parts[runner] = OPENERS[runner](self._how)
        return self._parts[runner]

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job on the part that can; raise only ClaimError or DeviceError."""
        return self.part(job.runner).run(job, probe)

    def run_all(self, jobs: Sequence[tuple[Job, Probe]]) -> list[Callable[[], Outcome]]:
        """Run several jobs, together if one part runs them all and can do so."""
        runners = {job.runner for job, _ in jobs}
        part = self.part(runners.pop()) if len(runners) == 1 else None
        return part.run_all(jobs) if isinstance(part, Together) else [partial(self.run, *one) for one in jobs]

    def find_store(self, job: Job, probe: Probe, array: str, index: int) -> tuple[str, int] | None:
        """The file and line that stored an element, if the job's part can find it."""
        part = self.part(job.runner)
        return part.find_store(job, probe, array, index) if isinstance(part, Locating) else None

    def ask(self, job: Job, probe: Probe) -> None:
        """Start a job; one that no part runs ahead runs later, when its answer is asked for."""
        if isinstance(part := self.part(job.runner), Ahead):
            part.ask(job, probe)
        self._pending.append((job, probe))

    def answer(self) -> Outcome:
        """The outcome of the oldest job that was asked for."""
        job, probe = self._pending.popleft()
        part = self.part(job.runner)
        return part.answer() if isinstance(part, Ahead) else part.run(job, probe)

    def forget(self) -> None:
        """Drop every job that was asked for and not answered."""
        self._pending.clear()
        for part in self._parts.values():
            if isinstance(part, Ahead):
                part.forget()

    def close(self) -> None:
        """End the workers. Do not use a device after you close it."""
        for part in self._parts.values():
            part.close()

    def __enter__(self) -> "NamedDevice":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_device(
    name: str, sanitize: bool = False, guard_all: bool = False, share: int = 1, family: str = "", through: str = ""
) -> Device:
    """The device of this name; `auto` is the gpu if there is one that works, else the cpu.

    `sanitize` lets a gpu check each access when a probe asks for it; the cpu always can. `guard_all` puts kfuzz's own
    allocator under torch on a gpu. `share`: how many such devices share the machine's memory. `family`: those of one
    family share the processes that import Python's libraries. `through`: "nvcc" lets the cpu run the PTX that nvcc
    makes of CUDA.
    """
    check_guard_all(resolve_device(name), guard_all)
    return NamedDevice(resolve_device(name), sanitize, guard_all, share, family, through)


def check_guard_all(device: str, guard_all: bool) -> None:
    """Raise a DeviceError if the device has no allocator that kfuzz's own can replace."""
    if guard_all and device == "cpu":
        raise DeviceError("--guard-all needs a gpu: on a CPU torch keeps its own allocator; leave the option out")


def resolve_device(name: str) -> str:
    """The device that a name stands for on this machine."""
    if name not in NAMES:
        raise DeviceError(f"device={name!r}: expected one of {', '.join(NAMES)}")
    return "gpu" if name == "gpu" or (name == "auto" and vendor().why_not() is None) else "cpu"


def jobs_worthwhile(kernels: int, max_cases: int | None) -> int | None:
    """How many processes save a campaign more than it costs to start them; None if it has no number of cases."""
    if max_cases is None:
        return None
    return max(1, (max_cases + TRIALS_A_COMPILATION * min(kernels, max_cases)) // TRIALS_A_PROCESS)


def lanes_for(
    name: str,
    jobs: int | None,
    sanitize: bool = False,
    guard_all: bool = False,
    worthwhile: int | None = None,
    through: str = "",
) -> tuple[Lane, ...]:
    """The lanes of a campaign on a device of this name: `auto` is the gpu and the cpu if both work.

    Without `jobs` there is one process per processor, but no more than are worthwhile. Each of two devices gets half of
    them: a process that feeds the gpu plans and judges, which is as much work as to run a case on the cpu. The gpu
    takes the large cases.
    """
    processors = len(os.sched_getaffinity(0))
    every, device = jobs or min(processors, worthwhile or processors), resolve_device(name)
    check_guard_all(device, guard_all)
    if name == "auto" and device == "gpu":
        fed = min(max(1, every // 2), MOST_ON_A_GPU)
        cpu = lane_of("cpu", max(1, every - fed), through=through)
        return lane_of("gpu", fed, sanitize, guard_all), replace(cpu, leaves_large=True)
    many = every if jobs or device == "cpu" else min(every, MOST_ON_A_GPU)
    return (lane_of(device, many, sanitize, guard_all, through),)


def lane_of(name: str, jobs: int, sanitize: bool = False, guard_all: bool = False, through: str = "") -> Lane:
    """A lane of `jobs` processes on one device."""
    how = (name, sanitize, guard_all, max(1, jobs), secrets.token_hex(), through)
    return Lane(name, partial(open_device, *how), jobs)


def lane_of_torch() -> Lane:
    """Real torch beside another device: one process, whose answers are a second opinion."""
    check_torch()
    return Lane(NAME, RealTorch, 1)


def lanes_of_caller(name: str) -> tuple[Lane, ...]:
    """The lanes of a campaign in the caller's own process: a script may not survive it if processes import it again."""
    return tuple(replace(lane, jobs=0) for lane in lanes_for(name, 2))


def names_of(lanes: Sequence[Lane]) -> str:
    """The devices in words: `gpu and cpu`."""
    return " and ".join(lane.name for lane in lanes)
