"""RunCounts what rounds: a kernel run on numbers that know how many additions lie on a term's way into them.

The same file in a third flavour, in which float and double are classes (include/cuda_on_cpu/counted.h). Knows trails
and how to ask a library for them; what a claim makes of them, it leaves to others.
"""

import ctypes
from collections.abc import Callable
from ctypes import c_uint32, c_uint64, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kfuzz.cpu import toolchain
from kfuzz.cpu.abi import Runtime, Schedule
from kfuzz.cpu.backend import LoadedFlavour, PlacedJob, limit_process
from kfuzz.cpu.experiments import Manner
from kfuzz.devices import Buffer, Job, Outcome, Probe, Run, host_compiler
from kfuzz.devices.layout import POISONS
from kfuzz.devices.worker import Worker

MODULE = "kfuzz.cpu.counting"
GRACE, SLACK = 5.0, 6.0
STAGES = ("sum", "inner", "divided")
"""Where a sum lies: it is the value, a function was taken of it (or a product), or the value was divided by it."""
FIELDS = (
    *(f"{kind}_of_{stage}" for stage in STAGES for kind in ("adds", "wide_adds")),
    "rescales",
    "scalings",
    "divisor",
    "flags",
)
TRAIL = np.dtype([(name, np.uint32) for name in FIELDS])
TALLY = "tally"
"""The name under which the tally of a run stands among its outputs; no name of C++ is a word of this kind."""
RECIPROCAL, QUOTIENT, PRODUCT, FAST = 8, 16, 32, 64
"""Flags of a trail, as trails.h has them: 1 / s, a / s, a * (1 / s), and that the division was __fdividef."""


@dataclass(frozen=True)
class RunCounts:
    """What one run counted: for each output, an array of its shape with a trail for each element; and the tally.

    `lost`: trails that could not be followed, since memory was written as something else than numbers. `crowded`: the
    tables were full. `exps`: how many there were; `unshifted`: those from whose argument nothing had been subtracted.
    """

    outputs: dict[str, NDArray[np.void]]
    lost: int
    crowded: int
    exps: int
    unshifted: int


class Counter:
    """Runs jobs in the count flavour, in a worker process of its own."""

    def __init__(self) -> None:
        host_compiler.find()
        self._worker = Worker(MODULE, grace=GRACE, slack=SLACK)

    def count(self, job: Job, seed: int = 0, timeout: float = 10.0) -> RunCounts | None:
        """What a run of the job counts; None where it does not come to its end. Raises what a device may raise."""
        outcome = self._worker.run(job, Probe(runs=2, seed=seed, timeout=timeout))
        if not outcome.runs:
            return None
        outputs = dict(outcome.runs[0].outputs)
        tallied = outputs.pop(TALLY).tolist()
        return RunCounts({name: array.view(TRAIL)[..., 0] for name, array in outputs.items()}, *tallied)

    def close(self) -> None:
        """End the worker. A closed counter is not used again."""
        self._worker.close()


class CountingBackend:
    """The runtime in this process; one library at a time, since each brings large tables."""

    def __init__(self) -> None:
        self.is_spent = False
        limit_process()
        self._runtime = Runtime(toolchain.build_runtime())
        self._key: tuple[object, ...] = ()
        self._program: LoadedFlavour | None = None

    def close(self) -> None:
        """Nothing outlives the process."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Run a job once, and give back trails in the place of its outputs."""
        program = self._load(job)
        laid_out = PlacedJob(job, program, probe.seed)
        begin("counting")
        program.loaded.function("cuda_on_cpu_count_begin", [])()
        run = laid_out.run(self._runtime, Manner(Schedule.forward, POISONS[0]), probe.timeout).run
        if run is None:
            return Outcome()
        addresses = laid_out.addresses()
        outputs = {one.name: read_trails(program, one, addresses[one.name]) for one in job.buffers if one.is_output}
        return Outcome((Run(run.circumstances, {**outputs, TALLY: read_tally(program)}),))

    def _load(self, job: Job) -> LoadedFlavour:
        key = (job.path, job.source, job.flags, job.entries)
        if self._program is None or key != self._key:
            if self._program is not None:
                self._runtime.forget(self._program.loaded)
            self._program, self._key = LoadedFlavour(job, "count"), key
        return self._program


def read_trails(program: LoadedFlavour, buffer: Buffer, address: int) -> NDArray[np.generic]:
    """The trail of each element of an output, in a last dimension."""
    found = np.zeros((*buffer.answer, len(FIELDS)), np.uint32)
    ask = program.loaded.function("cuda_on_cpu_trails_of", [c_void_p, c_uint64, c_uint64, c_void_p])
    ask(address, found.size // len(FIELDS), 4, found.ctypes.data_as(c_void_p))
    return found


def read_tally(program: LoadedFlavour) -> NDArray[np.generic]:
    found = (c_uint32 * 4)()
    program.loaded.function("cuda_on_cpu_tally", [c_void_p])(ctypes.cast(found, c_void_p))
    return np.array(found, np.uint32)


def backend() -> CountingBackend:
    """What `python -m kfuzz.devices.worker kfuzz.cpu.counting` serves."""
    return CountingBackend()
