"""Counts roundings: runs a kernel on numbers that know how many additions each of their terms went through.

This is the third flavour, in which float and double are classes (include/cuda_on_cpu/counted.h). Knows trails and how
to read them from a library; measure/roundings/ turns them into claims.
"""

import ctypes
from collections.abc import Callable
from ctypes import c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, ClaimError, Job, Outcome, Probe, Run, host_compiler
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.abi import Runtime, Schedule
from kfuzz.devices.cpu.backend import RESERVED, LoadedFlavour, PlacedJob, limit_process
from kfuzz.devices.cpu.device import start_process
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.memory.layout import POISONS
from kfuzz.devices.worker.nursery import Nursery
from kfuzz.devices.worker.worker import Worker

__all__ = ["RESERVED", "Counter", "RunCounts", "backend", "prepare"]

MODULE = "kfuzz.devices.cpu.counting"
GRACE, SLACK = 5.0, 6.0
STAGES = ("sum", "inner", "divided")
"""The role of a sum: it is the value, an argument of a function or product, or a divisor of the value."""
FIELDS = (
    *(f"{kind}_of_{stage}" for stage in STAGES for kind in ("adds", "wide_adds")),
    "rescales",
    "scalings",
    "divisor",
    "flags",
)
TRAIL = np.dtype([(name, np.uint32) for name in FIELDS])
TALLY = "tally"
"""The key of a run's tally among its outputs."""
LIBRARY_ADDS = "what a Python callable adds is done in its library"
RECIPROCAL, QUOTIENT, PRODUCT, FAST = 8, 16, 32, 64
"""Flags of a trail, as in trails.h: 1 / s, a / s, a * (1 / s), and a division by __fdividef."""


class UncountedError(ClaimError):
    """The kernel does what is not counted: where and what."""


@dataclass(frozen=True)
class RunCounts:
    """The counts of one run: for each output, an array of its shape with a trail for each element; and the tally.

    `lost`: trails that end where the kernel moved a number as raw bits. `crowded`: not 0 if the tables were
    full. `exps`: all calls of exp; `unshifted`: those whose argument is not a difference.
    """

    outputs: dict[str, NDArray[np.void]]
    lost: int
    crowded: int
    exps: int
    unshifted: int


class Counter:
    """Runs jobs in the count flavour, in a worker process of its own."""

    def __init__(self) -> None:
        host_compiler.find_compiler()
        self._nurseries: set[Nursery] = set()
        start = partial(start_process, nurseries=self._nurseries, at_once=True)
        self._worker = Worker(MODULE, grace=GRACE, slack=SLACK, start=start, returns_outputs=False)

    def count(self, job: Job, seed: int = 0, timeout: float = 10.0) -> RunCounts | None:
        """Count in one run of the job; None if it does not end. Raises UncountedError and what a device may raise."""
        return counts_of(self._worker.run(job, Probe(runs=2, seed=seed, timeout=timeout)), job)

    def close(self) -> None:
        """End the worker. A closed counter is not used again."""
        self._worker.close()
        self._nurseries.clear()


def counts_of(outcome: Outcome, job: Job) -> RunCounts | None:
    """The counts in an outcome; None if its run did not end. UncountedError for one that says why there are none."""
    if outcome.refusal is not None:
        place = f"{job.path}:{outcome.refusal.line}: " if outcome.refusal.line else ""
        raise UncountedError(f"{place}{outcome.refusal.words}")
    if not outcome.runs:
        return None
    outputs = dict(outcome.runs[0].outputs)
    tallied = outputs.pop(TALLY).tolist()
    return RunCounts({name: array.view(TRAIL)[..., 0] for name, array in outputs.items()}, *tallied)


def raw_trails(trails: NDArray[np.void]) -> NDArray[np.uint32]:
    """Trails as an outcome has them, with an additional last dimension."""
    return trails.reshape(*trails.shape, 1).view(np.uint32)


class CountingBackend:
    """The runtime in this process, with one library at a time, since each has large tables."""

    def __init__(self) -> None:
        self.is_spent = False
        limit_process()
        self._runtime = Runtime(toolchain.build_runtime())
        self._key: tuple[object, ...] = ()
        self._program: LoadedFlavour | None = None

    def close(self) -> None:
        """Nothing outlives the process."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Run a job once, and return trails in place of its outputs."""
        program = self._load(job)
        laid_out = PlacedJob(job, program, probe.seed)
        begin("counting")
        program.loaded.function("cuda_on_cpu_count_begin", [])()
        done = laid_out.run(self._runtime, Manner(Schedule.forward, POISONS[0]), probe.timeout)
        run = done.run
        if run is None:
            return Outcome(refusal=done.refusal)
        addresses = laid_out.addresses()
        outputs = {one.name: read_trails(program, one, addresses[one.name]) for one in job.buffers if one.is_output}
        return Outcome((Run(run.circumstances, {**outputs, TALLY: read_tally(program)}),))

    def _load(self, job: Job) -> LoadedFlavour:
        key = (job.path, job.source, job.flags, job.entries, job.through)
        if self._program is None or key != self._key:
            if self._program is not None:
                self._runtime.forget(self._program.loaded)
            self._program, self._key = LoadedFlavour(job, "count"), key
        return self._program


def read_trails(program: LoadedFlavour, buffer: Buffer, address: int) -> NDArray[np.generic]:
    """The trail of each element of an output, along an additional last dimension."""
    trails = np.zeros((*buffer.answer, len(FIELDS)), np.uint32)
    ask = program.loaded.function("cuda_on_cpu_trails_of", [c_void_p, c_uint64, c_uint64, c_void_p])
    ask(address, trails.size // len(FIELDS), 4, trails.ctypes.data_as(c_void_p))
    return trails


def read_tally(program: LoadedFlavour) -> NDArray[np.generic]:
    """The four totals of a run, in the order of RunCounts."""
    totals = (c_uint32 * 4)()
    program.loaded.function("cuda_on_cpu_tally", [c_void_p])(ctypes.cast(totals, c_void_p))
    return np.array(totals, np.uint32)


def prepare() -> None:
    """Build what a process in a sandbox needs and cannot build."""
    toolchain.build_runtime()


def backend() -> CountingBackend:
    """The backend that `python -m kfuzz.devices.worker.worker kfuzz.devices.cpu.counting` serves."""
    return CountingBackend()
