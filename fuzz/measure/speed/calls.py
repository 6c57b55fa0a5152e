"""A host function or a Python callable at one size on the GPU, called as a program calls it, over arrays in rotation.

Knows how such functions are called; never what they are timed against. A callable's file is imported here, into the
process that takes the times, and runs like any code of the user's (docs/bench.md says what that means).
"""

import ctypes
import importlib
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from kfuzz.devices import CALLER, LAUNCHER, ClaimError, DeviceError, Runner, called_first, is_host
from kfuzz.devices.python.call_values import arguments, describe_misfit, results
from kfuzz.devices.python.gpu_memory import GpuView
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.loading import Modules
from kfuzz.devices.python.opening import open_lender
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.vendor import GpuMemory, GpuSession
from kfuzz.devices.vendors import vendor
from kfuzz.measure.speed import rivals
from kfuzz.measure.speed.entrant import Entrant, Rotation, TimedSubject
from kfuzz.measure.speed.protocol import Contestant, LaunchGraph

ALLOCATES = re.compile(r"\bcudaMalloc|\bat::|\btorch::|\bthrust::device_vector")
"""Calls that allocate in a host function. kfuzz paints guards around such memory again each time, and would time it."""
DEFAULT_STREAM = ctypes.c_void_p(0)

HostArguments = tuple[list[object], dict[str, object]]
"""Arguments by position and by name."""


def make_subject(session: GpuSession, arrays: Rotation) -> TimedSubject:
    """The kernel or function that the claim names, ready to be timed."""
    job = arrays.bound.job
    if job.runner not in SUBJECTS:
        raise ClaimError(f"{job.path}: kfuzz takes no times of what a {job.runner.name} runs")
    return SUBJECTS[job.runner](session, arrays)


def launched(session: GpuSession, arrays: Rotation) -> TimedSubject:
    """Kernels, or the host functions that launch them."""
    return HostFunction(session, arrays) if any(map(is_host, arrays.bound.job.entries)) else Entrant(session, arrays)


@dataclass(frozen=True)
class Calls:
    """Calls one after another. They have ended when the GPU has no work left."""

    call: Callable[[int], object]
    session: GpuSession
    count: int
    sets: int

    def replay(self) -> None:
        """Make them all, and wait."""
        for number in range(self.count):
            self.call(number % self.sets)
        self.session.wait()


class HostFunction:
    """Host functions in a library of their own; they launch the kernels that they need."""

    def __init__(self, session: GpuSession, arrays: Rotation) -> None:
        self._session, self.arrays = session, arrays
        job = arrays.bound.job
        if any(buffer.is_returned for buffer in job.buffers) or ALLOCATES.search(job.source):
            raise ClaimError(
                f"{job.path}: it allocates in every call, between guards of kfuzz's own, and has no times: "
                "claim the kernel that it launches, or call it from Python"
            )
        self._functions = vendor().host_functions(session, job)

    def contestant(self, tune: Mapping[str, int]) -> Contestant:
        """This function, as a contestant in the timing."""
        return Contestant(f"{self.arrays.kernel.name} (calls)", self.graph, tuple(tune.items()))

    def graph(self, launches: int) -> LaunchGraph:
        """A number of calls, each with the next set."""
        return Calls(self._call, self._session, launches, len(self.arrays.sets))

    def deliver_answers(self) -> str:
        """Do nothing: its answers are already in place."""
        return ""

    def _call(self, which: int) -> None:
        job, held = self.arrays.bound.job, self.arrays.sets[which]
        for buffer in job.buffers:
            if buffer.fill is not None and not self.arrays.kernel.arrays[buffer.name].reads:
                width = buffer.element.bytes
                vendor().set_bytes(held[buffer.name].address, buffer.fill, width, prod(buffer.shape), DEFAULT_STREAM)
        addresses = {name: one.address for name, one in held.items()}
        for number in range(len(job.steps)):
            if (said := self._functions.call(job, number, addresses)) is not None:
                raise ClaimError(f"{job.path}: it does not take what its claim allows: {said}")


class CalledFunction:
    """A function of a Python file: as a graph if torch can record it, else as calls."""

    def __init__(self, session: GpuSession, arrays: Rotation) -> None:
        self._session, self.arrays = session, arrays
        job = arrays.bound.job
        entry = called_first([step.entry for step in job.steps])
        if untimed := libraries()[entry.library].untimed:
            raise ClaimError(f"{job.path}: it works on {untimed}, and has no times on a GPU")
        self._entry = entry
        self._lender = open_lender(entry.library, True)
        self._function = Modules(on_gpu=True).function(job, entry)
        self._call_arguments = [self._lend(held) for held in arrays.sets]
        self._answers: deque[object] = deque(maxlen=len(arrays.sets))
        self._call(self._call_arguments[0])  # afterwards everything is compiled
        session.wait()
        self._torch: Any = importlib.import_module("torch") if entry.library == "torch" else None
        if self._torch is not None:
            self._stream = self._torch.cuda.ExternalStream(session.stream.value)
            try:
                self._record(1)
            except Exception:  # anything can keep it from being recorded, such as a copy to the host
                self._torch = None
                session.wait()

    def contestant(self, tune: Mapping[str, int]) -> Contestant:
        """This function, as a contestant in the timing."""
        name = self.arrays.kernel.name
        return Contestant(name if self._torch else f"{name} (calls)", self.graph, tuple(tune.items()))

    def graph(self, launches: int) -> LaunchGraph:
        """A number of calls, each with the next set."""
        if self._torch:
            return self._record(launches)
        return Calls(
            lambda which: self._call(self._call_arguments[which]), self._session, launches, len(self._call_arguments)
        )

    def deliver_answers(self) -> str:
        """Copy the last call's results to the first set's outputs; return why that is impossible, or nothing."""
        values = results(self._answers[-1], self._entry.returns)
        buffers = {buffer.name: buffer for buffer in self.arrays.bound.job.buffers}
        if len(values) < len(self._entry.returns):
            return f"{len(values)} arrays are returned; the claim wants {', '.join(self._entry.returns)}"
        for name, value in zip(self._entry.returns, values, strict=False):
            answer = self._lender.answer(value)
            if answer is None:
                return f"{name} is returned as {type(value).__name__}, which is not an array of its library"
            if misfit := describe_misfit(name, answer, buffers[name]):
                return misfit
            self.arrays.sets[0][name].write(answer.bits)
        return ""

    def _record(self, launches: int) -> rivals.TorchGraph:
        return rivals.record_graph(self._torch, self._call, self._call_arguments, self._stream, launches)

    def _call(self, handed: HostArguments) -> object:
        args, named = handed
        try:
            self._answers.append(self._function(*args, **named))
        except Exception as error:  # the user's code may raise anything
            if "out of memory" in str(error).lower():
                raise ClaimError(f"{self.arrays.bound.job.path}: too large for this GPU as it is now") from error
            raise DeviceError(f"{self.arrays.bound.job.path}: {words_of(error)}") from error
        return self._answers[-1]

    def _lend(self, held: Mapping[str, GpuMemory]) -> HostArguments:
        """The arguments of a call over one set of arrays."""
        step = self.arrays.bound.job.steps[0]
        values: dict[str, object] = dict(zip(self._entry.declared, step.args, strict=True))
        for buffer in self.arrays.bound.job.buffers:
            if buffer.name in values:
                view = GpuView(held[buffer.name].address, buffer.shape, buffer.element.dtype, None)
                values[buffer.name] = self._lender.lend(view, buffer.element)
        return arguments(self._entry, values)


SUBJECTS: Mapping[Runner, Callable[[GpuSession, Rotation], TimedSubject]] = {LAUNCHER: launched, CALLER: CalledFunction}
"""What is timed of a job, by its runner."""
