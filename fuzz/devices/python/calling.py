"""One call of a callable: it takes its library's arrays over kfuzz's memory; its results are checked by the claim.

Knows what any call may do wrong; it knows no right answer. Long, since a call and its memory are one matter.
"""

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import (
    Buffer,
    ClaimError,
    DeviceError,
    Finding,
    Job,
    MissingError,
    NeedsGpuError,
    OtherLibraryError,
    PythonCall,
    Refusal,
    UnsupportedError,
)
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.call_values import arguments, describe_misfit, is_code, is_wider, number_as_array, results
from kfuzz.devices.python.extensions import RefusedByExtensionError
from kfuzz.devices.python.hiding import hidden
from kfuzz.devices.python.imitated_gpu import GPU, AsksForB200Error
from kfuzz.devices.python.late_input import LateInput
from kfuzz.devices.python.lending import CapturedCall, GraphLender, Lender, ReturnedArray
from kfuzz.devices.python.lent_memory import LentArray, Memory
from kfuzz.devices.python.loading import GRADIENTS, NoInputsError
from kfuzz.devices.python.probes import same_bits
from kfuzz.devices.python.raising import (
    error_text,
    find_lack,
    is_of_sandbox,
    line_in_file,
    module_half_imported,
    words_of,
)
from kfuzz.devices.python.refusing import is_of_guard_all, is_refusal
from kfuzz.devices.worker.printed import PrintReader
from kfuzz.kinds import KINDS

NO_MEMORY = "DefaultCPUAllocator: "
"""torch's own words for it on a CPU, in a RuntimeError."""
STILL_RUNNING = 0.05
"""Seconds to wait for a thread that the call leaves running."""
KEPT_ANSWERS, LEAST_KEPT, KEPT_BYTES = 8, 3, 64 << 20
"""Earlier answers that are looked at again after later calls: with 8 of them, so many buffers that take turns are seen.
Large answers are fewer."""

GpuSeen = Literal["real", "imitated", "missing"]
"""What the callable sees when it asks for a GPU."""
NamedArrays = dict[str, NDArray[np.generic]]
NamedViews = Mapping[str, LentArray]


class RefusedError(Exception):
    """The callable refused its arguments."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


@dataclass(frozen=True)
class EarlierAnswer:
    """An earlier answer: the array that the caller still holds, and its bits at that time."""

    name: str
    value: object
    bits: NDArray[np.generic]


@dataclass
class Caller:
    """A callable with its job and its library; `findings` grow with every call."""

    job: Job
    call: PythonCall
    function: Callable[..., Any]
    lender: Lender
    memory: Memory
    """The memory of the arguments."""
    gpu: GpuSeen = "real"
    given: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    """What makes the inputs of a reference's file, for arguments that have a part of them."""
    has_answered: bool = False
    """A call of this file has returned, so that it takes the library's arrays."""
    findings: list[Finding] = field(default_factory=list)
    earlier: list[EarlierAnswer] = field(default_factory=list)
    seconds: float = 0.0
    """How long the last call took."""
    settled_after: float = 0.0
    """How long the last call of `answers` took, with all its work."""
    scratch: set[int] = field(default_factory=set)
    """The addresses of arrays that a task hands over for the answer, which may be returned."""

    def answers(self, views: NamedViews, sizes: Mapping[str, int]) -> NamedArrays:
        """The outputs that one call returns, by name; Fault if it does not reach its end."""
        buffers = {buffer.name: buffer for buffer in self.job.buffers}
        threads, began = set(threading.enumerate()), time.perf_counter()
        values = results(self._call(views, sizes), self.call.returns)
        named = dict(zip(self.call.returns, values, strict=False))
        at_once = self._read_outputs(views, named) if self.memory.on_gpu else {}
        self.memory.settle()
        self.settled_after = time.perf_counter() - began
        found = dict(self._accepted(values, buffers))
        for name, now in self._read_outputs(views, named).items() if at_once else ():
            if not same_bits(at_once[name], now):
                message = f"{name} changes when the call has returned: it is written in a stream that no one waits for"
                self._report(Finding("late-write", message, array=name, step=0))
        self._check_afterwards(threads, named, found)
        return found

    def other_answers(
        self, views: NamedViews, sizes: Mapping[str, int], first: NamedArrays, until: float
    ) -> NamedArrays:  # fmt: skip
        """The outputs of the first of many calls that returns other bits; nothing if none does until then."""
        buffers = {buffer.name: buffer for buffer in self.job.buffers}
        args, named = self._arguments(views, sizes)
        keeps_state = bool(self.given) or any(GRADIENTS in text for text in self.call.arguments)
        known: list[NDArray[np.generic]] = []
        with self._faults():
            while time.perf_counter() + self.seconds < until:
                if keeps_state:  # each call adds to a gradient, and may change an object that get_inputs makes
                    args, named = self._arguments(views, sizes)
                values = results(self.function(*args, **named), self.call.returns)
                held = [self.lender.answer(value) for value in values]
                every = [one.bits for one in held if one is not None]
                if len(known) == len(every) and all(map(same_bits, known, every)):
                    continue
                found = dict(self._accepted(values, buffers))
                if not all(same_bits(one, found[name]) for name, one in first.items()):
                    return found
                known = every
        return {}

    def call_in_stream(
        self, views: NamedViews, sizes: Mapping[str, int], late: LateInput
    ) -> tuple[NamedArrays, NamedArrays]:
        """The outputs of a call in a new stream with a late input: first in stream order, then when all work is done.

        Both are empty if the library has no streams.
        """
        stream = self.lender.stream()
        if stream is None:
            return {}, {}
        with stream as handle:
            late.queue(handle)
            try:
                values = results(self._call(views, sizes), self.call.returns)
            finally:
                late.let_go()
            named = dict(zip(self.call.returns, values, strict=False))
            at_once = self._read_outputs({}, named)
        self.memory.settle()
        return at_once, self._read_outputs(views, named)

    def capture(self, lender: GraphLender, views: NamedViews, sizes: Mapping[str, int]) -> CapturedCall:
        """Make a call in a graph; Fault if it cannot be captured, after which nothing more runs in this process."""
        args, named = self._arguments(views, sizes)
        try:
            with hidden():
                return lender.capture(lambda: self.function(*args, **named))
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:
            self.memory.is_spent = True
            line = line_in_file(error, str(self.job.path.resolve()))
            message = f"the call cannot be captured: {words_of(error)}"
            raise Fault(Finding("exception", message, line=line, step=0)) from None

    def accept(self, returned: object) -> NamedArrays:
        """The outputs in what a call returned, by name, after all work; Fault if they do not fit the claim."""
        self.memory.settle()
        buffers = {buffer.name: buffer for buffer in self.job.buffers}
        return dict(self._accepted(results(returned, self.call.returns), buffers))

    def _arguments(self, views: NamedViews, sizes: Mapping[str, int]) -> tuple[list[object], dict[str, object]]:
        elements = {buffer.name: buffer.element for buffer in self.job.buffers}
        arrays = {name: self.lender.lend(view, elements[name]) for name, view in views.items()}
        unread = {one.name for one in self.job.buffers if one.content is None and not one.is_output}
        self.scratch = {view.address for name, view in views.items() if name in unread}
        once = {name: called_once(make) for name, make in self.given.items()}
        try:
            return arguments(self.call, {**sizes, **arrays, **once})
        except Exception as error:
            if isinstance(error, MemoryError | ClaimError) or not once:
                raise
            words = str(error) if isinstance(error, NoInputsError) else words_of(error)
            raise RefusedError(Refusal(f"the reference's get_inputs ends with {words}")) from None

    def _read_outputs(self, views: NamedViews, returned: Mapping[str, object]) -> NamedArrays:
        """The present content of the outputs, both passed and returned."""
        outputs = {buffer.name for buffer in self.job.buffers if buffer.is_output}
        try:
            found = {name: view.read() for name, view in views.items() if name in outputs and name not in returned}
            answers = {name: self.lender.answer(value) for name, value in returned.items()}
        except Exception:
            self.memory.settle()  # a failed kernel is reported as its own fault, not as the first error after it
            raise
        return found | {name: answer.bits for name, answer in answers.items() if answer is not None}

    def _call(self, views: NamedViews, sizes: Mapping[str, int]) -> object:
        args, named = self._arguments(views, sizes)
        with self._faults():
            began = time.perf_counter()
            answer = self.function(*args, **named)
            self.seconds = time.perf_counter() - began
        self.has_answered = True
        return answer

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Say what an error of the callable is; it sees nothing of kfuzz."""
        file = str(self.job.path.resolve())
        try:
            process = os.getpid()
            try:
                with hidden():
                    yield
            finally:
                if os.getpid() != process:  # a fork that the callable has left: it would answer kfuzz, too
                    os._exit(0)
        except (KeyboardInterrupt, MemoryError, Fault, ClaimError, DeviceError):
            raise
        except SystemExit as error:
            raise Fault(Finding("trap", f"the callable ends its process: {words_of(error)}", step=0)) from None
        except BaseException as error:
            self.memory.settle()  # a failed kernel is reported as its own fault
            if type(error).__name__ == "OutOfMemoryError" or NO_MEMORY in error_text(error):
                raise MemoryError from None
            line = line_in_file(error, file)
            if isinstance(error, RefusedByExtensionError):
                raise RefusedError(Refusal(str(error), error.line or line)) from None
            if is_of_guard_all(error):
                raise RefusedError(Refusal(f"not under --guard-all: {words_of(error)}", line)) from None
            check_sandbox_allows(error, self.job.path, line)
            check_is_asked_gpu(error, self.gpu)
            lack = None if self.gpu == "real" else find_lack(error)
            check_libraries_load(error, self.job.path, does_lack=lack is not None and self.gpu == "missing")
            if lack is not None:
                if lack.is_of_input and self.gpu == "imitated":
                    raise RefusedError(Refusal(lack.words, line, lack.is_of_compiler)) from None
                of = NeedsGpuError if self.gpu == "missing" else UnsupportedError
                raise of(f"{self.job.path}: {lack.words}") from None
            if self.call.is_guess and not self.has_answered and isinstance(error, TypeError | AttributeError):
                words = f"{self.job.path}: it takes no arrays of {self.call.library}: {words_of(error)}"
                raise OtherLibraryError(words) from None
            is_other = self.gpu == "imitated" and GPU.is_another_asked(error_text(error))
            if is_other or is_refusal(error, file):
                raise RefusedError(Refusal(words_of(error), line)) from None
            raise Fault(Finding("exception", words_of(error), line=line, step=0)) from None

    def _accepted(
        self, values: Sequence[object], buffers: Mapping[str, Buffer]
    ) -> Iterator[tuple[str, NDArray[np.generic]]]:
        """Each returned array that fits the claim; Fault for one that does not."""
        wanted = self.call.returns
        if wanted and len(values) != len(wanted):
            many = f"{len(values)} arrays are returned" if values else "nothing is returned"
            raise Fault(Finding("wrong-shape", f"{many}; the claim wants {', '.join(wanted)}", array=wanted[0], step=0))
        for name, value in zip(wanted, values, strict=False):
            answer = self.lender.answer(value)
            if (number := number_as_array(value, buffers[name])) is not None:
                yield name, number
            elif answer is None:
                self._raise_misfit(
                    name, f"{name} is returned as {type(value).__name__}, which is no array of its library"
                )
            elif (misfit := self._misfit_of(name, answer, buffers[name])) is not None:
                self._raise_misfit(name, misfit)
            else:
                if not answer.is_exact:
                    message = f"{name} is a {answer.kind}: what it holds may be worked out later"
                    self._report(Finding("lazy", message, array=name, step=0))
                if self.memory.holds(answer.address) and answer.address not in self.scratch:
                    message = f"{name} shares its memory with an array that was handed over"
                    self._report(Finding("aliased", message, array=name, step=0))
                elif answer.address not in self.scratch:
                    self.earlier.append(EarlierAnswer(name, value, answer.bits))
                is_coded = is_code(answer.element, buffers[name].element)
                bits = answer.bits.view(buffers[name].element.dtype) if is_coded else answer.bits
                if is_wider(answer.element, buffers[name].element):
                    bits = bits.astype(buffers[name].element.dtype)
                yield name, bits.reshape(buffers[name].answer)

    def _misfit_of(self, name: str, answer: ReturnedArray, buffer: Buffer) -> str | None:
        """How a returned array differs from the claim, in words; None if it fits."""
        may_be_wider = bool(self.call.beside) or name in self.call.doubles  # a task compares numbers
        wanted = None
        if self.call.numbers is not None:
            wanted = () if name in self.call.numbers else buffer.answer
        return describe_misfit(name, answer, buffer, may_be_wider, wanted)

    def _raise_misfit(self, name: str, message: str) -> None:
        raise Fault(Finding("wrong-shape", message, array=name, step=0))

    def _check_afterwards(
        self, threads: set[threading.Thread], values: Mapping[str, object], found: Mapping[str, NDArray[np.generic]]
    ) -> None:
        """Report what continues after the call has returned, and answers that a later call changes."""
        started = [one for one in threading.enumerate() if one not in threads and one.is_alive()]
        left = [one for one in started if not isinstance(one, PrintReader)]  # its CUDA runs in a worker of kfuzz
        for thread in left:
            self._report(Finding("thread", f"the call leaves a thread running: {thread.name}", step=0))
            thread.join(STILL_RUNNING)
        for name, value in values.items() if left else ():
            now = self.lender.answer(value)
            if now is not None and not same_bits(now.bits.reshape(-1), found[name].reshape(-1)):
                message = f"{name} changes when the call has returned, by a thread of its own"
                self._report(Finding("late-write", message, array=name, step=0))
        self.check_earlier(self.earlier[: -len(found) or None])
        while len(self.earlier) > KEPT_ANSWERS or (
            len(self.earlier) > LEAST_KEPT and bytes_of(self.earlier) > KEPT_BYTES
        ):
            del self.earlier[0]

    def check_earlier(self, answers: Sequence[EarlierAnswer]) -> None:
        """Report answers of earlier calls that have changed since."""
        for kept in answers:
            now = self.lender.answer(kept.value)
            if now is not None and not same_bits(now.bits, kept.bits):
                message = f"{kept.name} of one call is changed by a later one"
                self._report(Finding("late-write", message, array=kept.name, step=0))

    def _report(self, found: Finding) -> None:
        """Add a finding once for each kind and array, with the severity of its kind."""
        if all((one.kind, one.array) != (found.kind, found.array) for one in self.findings):
            self.findings.append(replace(found, severity=KINDS[found.kind].severity))


def called_once(make: Callable[..., object]) -> Callable[..., object]:
    """A function that calls another one once for each argument; an array of numpy has no hash, and is itself alone."""
    known: dict[object, tuple[object, object]] = {}

    def call(*given: object) -> object:
        key = tuple(one if isinstance(one, Hashable) else id(one) for one in given)
        if key not in known:
            known[key] = given, make(*given)
        return known[key][1]

    return call


def bytes_of(answers: Sequence[EarlierAnswer]) -> int:
    """The memory that the bits of answers take."""
    return sum(one.bits.nbytes for one in answers)


def check_libraries_load(error: BaseException, path: Path, *, does_lack: bool) -> None:
    """Raise MissingError if an exception comes of the import of a library's module, unless that lacks a GPU."""
    if not does_lack and (module := module_half_imported(error)):
        raise MissingError(f"{path}: {module} cannot be imported here: {words_of(error)}") from None


def check_is_asked_gpu(error: BaseException, seen: GpuSeen) -> None:
    """Raise AsksForB200Error if the file says that it takes one, and this process can imitate it."""
    if seen == "imitated" and GPU.does_ask_for_b200(error_text(error)):
        raise AsksForB200Error from None


def check_sandbox_allows(error: BaseException, path: Path, line: int | None) -> None:
    """Raise UnsupportedError if an exception comes of a call that the sandbox refuses, which may be no bug."""
    if is_of_sandbox(error):
        where = f"{path}:{line}" if line else str(path)
        raise UnsupportedError(f"{where}: its sandbox does not allow this: {words_of(error)}") from None
