"""Python callables as the search sees them: jobs go to worker processes, and an accusation has to be repeatable.

Each file has a process of its own: what it patches, sets or registers reaches no other file. Such a process is a fork
of one that has imported the file's library and no file of a callable. Knows processes and outcomes.
"""

import re
import select
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from kfuzz.devices import Entry, Job, NeedsGpuError, OtherLibraryError, Outcome, Probe, PythonCall, called_first
from kfuzz.devices.memory.machine_memory import LIMIT, resident_bytes
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.making import InputsOfJobs
from kfuzz.devices.python.options import CallableOptions
from kfuzz.devices.sandbox.box import Box, in_force
from kfuzz.devices.worker.confirming import confirm, is_doubtful
from kfuzz.devices.worker.nursery import Nursery, lasting_nursery
from kfuzz.devices.worker.worker import START_TIMEOUT, Started, Worker, end_process, environment

CALL, CALL_THAT_COMPILES = 40.0, 60.0
"""Seconds for one call; more where the library may compile something for a new shape, as torch.compile does."""
COMPILES = re.compile("compile|jit|autotune|load_inline|triton|jax|numba|cupy|cutlass", re.IGNORECASE)
"""In the text of a file: it may have something compiled."""
AS_ON_GPU = "kfuzz.devices.python.serve_torch"
"""Serves files that ask for a GPU where there is none."""
CallableKey = tuple[Path, str, str]
"""A function of a file with this text. A reference in the file of its callable has a process of its own, too."""
KEPT = 4
"""Files whose processes stay: a campaign comes back to each file after a few trials of the others."""


class PythonDevice:
    """Calls Python callables in worker processes, with arrays in the host's memory or, by name, on the first gpu.

    `guard_all`: on the GPU, guards surround all memory that torch allocates. `most_bytes`: the host's memory that one
    process may take; on a GPU it is not limited. `modules`: those that many of the files import, and that a fork may
    inherit; on the GPU they are not imported before a fork. `family`: devices of one family share the processes that
    import libraries. `returns_outputs`: the arrays of a run are the outputs of its job.
    A device of no family whose files run in a sandbox leaves those processes up for the next one.
    """

    def __init__(
        self, name: str = "cpu", guard_all: bool = False, most_bytes: int | None = None, modules: tuple[str, ...] = (),
        family: str = "", returns_outputs: bool = True,
    ) -> None:  # fmt: skip
        self.name, self._family, self._returns_outputs = name, family, returns_outputs
        self._sandboxed = in_force() if name == "cpu" else None
        self._modules = () if name == "gpu" else modules
        self._most_bytes = None if name == "gpu" else most_bytes
        module = ("serve_guarded" if guard_all else "serve_on_gpu") if name == "gpu" else "backend"
        self._module = f"kfuzz.devices.python.{module}"
        self._inputs = InputsOfJobs(keeps_out=self._sandboxed is not None and not self._sandboxed.lends_reference)
        self._workers: OrderedDict[CallableKey, Worker] = OrderedDict()
        self._libraries: dict[CallableKey, str] = {}
        """The libraries of files that did not take the arrays of the first one."""
        self._imitating: set[CallableKey] = set()
        self._nurseries: dict[tuple[str, ...], Nursery] = {}
        self._is_lasting = self._sandboxed is not None and not family
        self._prepared: dict[tuple[Nursery, str], Started] = {}
        """Processes that have been started and have no file yet."""

    def import_early(self, entries: Sequence[Entry]) -> None:
        """Begin to import the library of a callable."""
        self._nursery_for(called_first(entries))

    def prepare(self, entries: Sequence[Entry]) -> None:
        """Start a process for the first file of this library, and wait until it has a context, on a GPU."""
        nursery = self._nursery_for(called_first(entries))
        if self._sandboxed is not None:  # which sandbox it needs depends on the file
            return
        started = self._prepared[nursery, self._module] = nursery.start(self._module)
        assert started.stdout is not None
        select.select([started.stdout], [], [], START_TIMEOUT)  # it says that it is ready, or it has ended

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job; one that ends its process is run again in a new one before it is accused."""
        if job.vast:
            return Outcome()  # a library has no blocks to leave out
        job = self._inputs.with_inputs(with_library(job, self._libraries.get(key_of(job))))
        try:
            outcome = self._worker_for(job).run(job, probe)
        except NeedsGpuError:
            if self.name == "gpu" or not self._imitate_gpu(job):
                raise
            return self.run(job, probe)
        except OtherLibraryError:
            if not call_of(job).others:
                raise
            self._take_next_library(job)
            return self.run(job, probe)
        worker = self._worker_for(job)
        hangs = self.name == "cpu" and {one.kind for one in outcome.findings} == {"hang"}  # it had all of its time
        if worker.pid is None and is_doubtful(outcome, probe.fatal) and not hangs and not job.through:
            second = replace(probe, options=(*probe.options, CallableOptions(is_second=True)))
            return confirm(outcome, lambda: worker.run(job, second), probe.fatal)
        return outcome

    def _worker_for(self, job: Job) -> Worker:
        """The process of the job's file; the processes of the files that were called last are kept."""
        key = key_of(job)
        if key not in self._workers:
            self._drop_large()
            while len(self._workers) >= KEPT:
                self._workers.popitem(last=False)[1].close()
            box = self._sandboxed.box_of(job.path, call_of(job).files) if self._sandboxed else None
            start = partial(self._start, self._nursery_for(call_of(job)), box)
            module = AS_ON_GPU if key in self._imitating else self._module
            self._workers[key] = Worker(
                module, start=start, imports_files=True, call_seconds=call_seconds, watches_idle=self.name == "cpu",
                returns_outputs=self._returns_outputs,
            )  # fmt: skip
        self._workers.move_to_end(key)
        return self._workers[key]

    def _imitate_gpu(self, job: Job) -> bool:
        """Give the job's file a new process, in which it sees a GPU; False if it has one, or has arrays of no torch."""
        key = key_of(job)
        call = call_of(job)
        if key in self._imitating or not libraries()[call.library].imitates_gpu:
            return False
        self._imitating.add(key)
        self._workers.pop(key).close()
        return True

    def _take_next_library(self, job: Job) -> None:
        """Give the job's file a new process, and arrays of the next library."""
        key = key_of(job)
        self._libraries[key] = call_of(job).others[0]
        self._workers.pop(key).close()

    def _drop_large(self) -> None:
        """End the processes that hold more than their part of what one process may take."""
        for key, worker in list(self._workers.items()):
            held = resident_bytes(worker.pid) if worker.pid is not None else 0
            if self._most_bytes is not None and held > self._most_bytes // KEPT:
                self._workers.pop(key).close()

    def _start(self, nursery: Nursery, box: Box | None, module: str) -> Started:
        """A process for one file: the one that was prepared, or a new one."""
        started = self._prepared.pop((nursery, module), None)
        return started or nursery.start(module, self._variables() if self._is_lasting else None, box)

    def _variables(self) -> dict[str, str]:
        """What a process in a sandbox gets, as it is now: limits of time are among it."""
        return {**environment(is_boxed=True), **self._limits}

    @property
    def _limits(self) -> dict[str, str]:
        return {} if self._most_bytes is None else {LIMIT: str(self._most_bytes)}

    def _nursery_for(self, call: PythonCall) -> Nursery:
        """The process that has imported the library of a call."""
        used = [libraries()[name] for name in dict.fromkeys((call.library, call.language))]
        own = [one.packages[0] for one in used if self.name == "cpu" or one.forks_with_gpu]
        packages = tuple(dict.fromkeys((*own, *self._modules, self._module)))
        if packages not in self._nurseries:
            self._nurseries[packages] = (
                lasting_nursery(packages, True, self._variables())
                if self._is_lasting
                else Nursery(packages, self._limits, self._family, self._sandboxed is not None)
            )
        return self._nurseries[packages]

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers.values():
            worker.close()
        for started in self._prepared.values():
            end_process(started)
        self._prepared.clear()
        for nursery in () if self._is_lasting else self._nurseries.values():
            nursery.close()
        self._workers.clear()
        self._nurseries.clear()


def call_seconds(job: Job) -> float:
    """How long one call of a job may take."""
    return CALL_THAT_COMPILES if COMPILES.search(job.source) else CALL


def key_of(job: Job) -> CallableKey:
    """What a process is for."""
    return job.path, job.source, call_of(job).function


def call_of(job: Job) -> PythonCall:
    """The call of a job."""
    return called_first([step.entry for step in job.steps])


def with_library(job: Job, library: str | None) -> Job:
    """A job with arrays of another library, and only those to try next that come after it."""
    call = call_of(job)
    if library is None or library not in call.others:
        return job
    language = library if libraries()[call.language].arrays != library else call.language
    others = call.others[call.others.index(library) + 1 :]
    entry = replace(call, library=library, language=language, others=others)
    return replace(job, steps=(replace(job.steps[0], entry=entry), *job.steps[1:]))
