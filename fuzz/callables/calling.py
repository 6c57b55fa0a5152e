"""One call of a callable: arrays of its library over our memory go in, what comes out is held against the claim.

Knows what a call may do wrong, whatever it computes; it knows no right answer.
"""

import ast
import linecache
import re
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.callables.extensions import RefusedByExtensionError
from kfuzz.callables.lending import Lender, ReturnedArray
from kfuzz.callables.loading import line_of, words_of
from kfuzz.callables.memory import LentArray, Memory
from kfuzz.callables.probes import same_bits
from kfuzz.devices import Buffer, ClaimError, DeviceError, Finding, Job, PythonCall, Refusal, names_together
from kfuzz.devices.repeats import Fault
from kfuzz.kinds import KINDS

REFUSALS = (ValueError, NotImplementedError, AssertionError)
"""What a function raises that does not take its arguments, if it raises it itself."""
GUARD_ALL = re.compile(r"--guard-all|CUDAPluggableAllocator")
"""What an error says of an allocator that cannot do what torch's own can: it captures no graph, and counts no bytes."""
STILL_RUNNING = 0.05
"""Seconds for a thread that the call has left behind."""
KEPT_ANSWERS = 3

NamedArrays = dict[str, NDArray[np.generic]]
NamedViews = Mapping[str, LentArray]


class RefusedError(Exception):
    """The callable did not take its arguments, and said so."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


@dataclass(frozen=True)
class EarlierAnswer:
    """An answer that was given, as its array is held by whoever asked, and the bits that it had then."""

    name: str
    value: object
    bits: NDArray[np.generic]


@dataclass
class Caller:
    """A callable with what it is called with; `findings` grow with every call."""

    job: Job
    call: PythonCall
    function: Callable[..., Any]
    lender: Lender
    memory: Memory
    """Where what is handed over lies."""
    findings: list[Finding] = field(default_factory=list)
    earlier: list[EarlierAnswer] = field(default_factory=list)

    def answers(self, views: NamedViews, sizes: Mapping[str, int]) -> NamedArrays:
        """What one call returns, by the name of the output; Fault where it does not come to its end."""
        buffers = {buffer.name: buffer for buffer in self.job.buffers}
        threads = set(threading.enumerate())
        values = results(self._call(views, sizes), self.call.returns)
        named = dict(zip(self.call.returns, values, strict=False))
        at_once = self._read_outputs(views, named) if self.memory.is_card else {}
        self.memory.settle()
        found = dict(self._accepted(values, buffers))
        for name, now in self._read_outputs(views, named).items() if at_once else ():
            if not same_bits(at_once[name], now):
                message = f"{name} changes when the call has returned: it is written in a stream that nobody waits for"
                self._report(Finding("late-write", message, array=name, step=0))
        self._check_afterwards(threads, named, found)
        return found

    def call_in_stream(
        self, views: NamedViews, sizes: Mapping[str, int], fill: Callable[[int], None]
    ) -> tuple[NamedArrays, NamedArrays]:
        """What a call in a stream of its own leaves, whose input is late: in the stream's order, and when all is done.

        Nothing where the library has no stream to call in.
        """
        stream = self.lender.stream()
        if stream is None:
            return {}, {}
        with stream as handle:
            fill(handle)
            values = results(self._call(views, sizes), self.call.returns)
            named = dict(zip(self.call.returns, values, strict=False))
            at_once = self._read_outputs({}, named)
        self.memory.settle()
        return at_once, self._read_outputs(views, named)

    def _read_outputs(self, views: NamedViews, returned: Mapping[str, object]) -> NamedArrays:
        """What lies in the outputs now, in those that were handed over and those that were returned."""
        outputs = {buffer.name for buffer in self.job.buffers if buffer.is_output}
        try:
            found = {name: view.read() for name, view in views.items() if name in outputs and name not in returned}
            answers = {name: self.lender.answer(value) for name, value in returned.items()}
        except Exception:
            self.memory.settle()  # a kernel that has failed is told as what it did, not by who has seen it first
            raise
        return found | {name: answer.bits for name, answer in answers.items() if answer is not None}

    def _call(self, views: NamedViews, sizes: Mapping[str, int]) -> object:
        elements = {buffer.name: buffer.element for buffer in self.job.buffers}
        file = str(self.job.path.resolve())
        arrays = {name: self.lender.lend(view, elements[name]) for name, view in views.items()}
        args, named = arguments(self.call, {**sizes, **arrays})
        try:
            return self.function(*args, **named)
        except (KeyboardInterrupt, MemoryError, Fault, ClaimError, DeviceError):
            raise
        except SystemExit as error:
            raise Fault(Finding("trap", f"the callable ends its process: {words_of(error)}", step=0)) from None
        except BaseException as error:
            self.memory.settle()  # a kernel that has failed on a card is told as what it did
            if type(error).__name__ == "OutOfMemoryError":
                raise MemoryError from None
            line = line_of(error, file)
            if isinstance(error, RefusedByExtensionError):
                raise RefusedError(Refusal(str(error), error.line or line)) from None
            if is_of_guard_all(error):
                raise RefusedError(Refusal(f"not under --guard-all: {words_of(error)}", line)) from None
            if is_refusal(error, file):
                raise RefusedError(Refusal(words_of(error), line)) from None
            raise Fault(Finding("exception", words_of(error), line=line, step=0)) from None

    def _accepted(
        self, values: Sequence[object], buffers: Mapping[str, Buffer]
    ) -> Iterator[tuple[str, NDArray[np.generic]]]:
        """Each returned array that is what the claim says; Fault where one is not."""
        wanted = self.call.returns
        if wanted and len(values) != len(wanted):
            told = f"{len(values)} arrays are returned" if values else "nothing is returned"
            raise Fault(Finding("wrong-shape", f"{told}; the claim wants {', '.join(wanted)}", array=wanted[0], step=0))
        for name, value in zip(wanted, values, strict=False):
            answer = self.lender.answer(value)
            if answer is None:
                self._raise_misfit(
                    name, f"{name} is returned as {type(value).__name__}, which is no array of its library"
                )
            elif (misfit := describe_misfit(name, answer, buffers[name])) is not None:
                self._raise_misfit(name, misfit)
            else:
                if not answer.is_exact:
                    message = f"{name} is a {answer.kind}: what it holds may be worked out later"
                    self._report(Finding("lazy", message, array=name, step=0))
                if self.memory.holds(answer.address):
                    message = f"{name} shares its memory with an array that was handed over"
                    self._report(Finding("aliased", message, array=name, step=0))
                else:
                    self.earlier.append(EarlierAnswer(name, value, answer.bits))
                yield name, answer.bits.reshape(buffers[name].answer)

    def _raise_misfit(self, name: str, message: str) -> None:
        raise Fault(Finding("wrong-shape", message, array=name, step=0))

    def _check_afterwards(
        self, threads: set[threading.Thread], values: Mapping[str, object], found: Mapping[str, NDArray[np.generic]]
    ) -> None:
        """Whether something goes on when the call has returned, or an answer changes with a later call."""
        left = [one for one in threading.enumerate() if one not in threads and one.is_alive()]
        for thread in left:
            self._report(Finding("thread", f"the call leaves a thread running: {thread.name}", step=0))
            thread.join(STILL_RUNNING)
        for name, value in values.items() if left else ():
            now = self.lender.answer(value)
            if now is not None and not same_bits(now.bits.reshape(-1), found[name].reshape(-1)):
                message = f"{name} changes when the call has returned, by a thread of its own"
                self._report(Finding("late-write", message, array=name, step=0))
        self.check_earlier(self.earlier[: -len(found) or None])
        del self.earlier[:-KEPT_ANSWERS]

    def check_earlier(self, answers: Sequence[EarlierAnswer]) -> None:
        """Whether what earlier calls have returned still holds what it held then."""
        for kept in answers:
            now = self.lender.answer(kept.value)
            if now is not None and not same_bits(now.bits, kept.bits):
                message = f"{kept.name} of one call is changed by a later one"
                self._report(Finding("late-write", message, array=kept.name, step=0))

    def _report(self, found: Finding) -> None:
        """Once, as grave as its kind."""
        if all((one.kind, one.array) != (found.kind, found.array) for one in self.findings):
            self.findings.append(replace(found, severity=KINDS[found.kind].severity))


def arguments(call: PythonCall, values: Mapping[str, object]) -> tuple[list[object], dict[str, object]]:
    """The arguments by position, and those by name."""
    args: list[object] = []
    named: dict[str, object] = {}
    for text in call.arguments:
        keyword, equals, rest = text.partition("=")
        is_named = bool(equals) and keyword.strip().isidentifier()
        written = rest.strip() if is_named else text.strip()
        together = names_together(written)
        value: object = tuple(values[name] for name in together) if together else None
        if not together:
            value = values[written] if written in values else ast.literal_eval(written)
        if is_named:
            named[keyword.strip()] = value
        else:
            args.append(value)
    return args, named


def results(returned: object, names: Sequence[str]) -> list[object]:
    """What was returned, as a list; of a dict what stands under these names, else all that it holds."""
    if isinstance(returned, Mapping):
        return [returned[name] for name in names] if {*names} <= {*returned} else list(returned.values())
    if isinstance(returned, tuple | list):
        return list(returned)
    return [] if returned is None else [returned]


def is_of_guard_all(error: BaseException | None) -> bool:
    """Whether an error, or one in whose wake it came, is that of an allocator of ours which cannot do something."""
    return error is not None and (bool(GUARD_ALL.search(str(error))) or is_of_guard_all(error.__context__))


def is_refusal(error: BaseException, file: str) -> bool:
    """Whether the file itself says, by a `raise` or an `assert` of its own, that it does not take its arguments."""
    frames = traceback.extract_tb(error.__traceback__)
    if not (isinstance(error, REFUSALS) and frames and frames[-1].filename == file):
        return False
    at = linecache.getline(file, frames[-1].lineno or 0)[frames[-1].colno or 0 :]
    return isinstance(error, AssertionError) or at.startswith("raise")


def describe_misfit(name: str, answer: ReturnedArray, buffer: Buffer) -> str | None:
    """In words, how a returned array is not what the claim says; dimensions of 1 more or less are no matter."""
    got, wanted = ([size for size in shape if size != 1] for shape in (answer.bits.shape, buffer.answer))
    is_empty = prod(answer.bits.shape) == 0 == prod(buffer.answer)
    if answer.element == buffer.element.name and (got == wanted or is_empty):
        return None
    shapes = [f"[{', '.join(map(str, shape))}]" for shape in (answer.bits.shape, buffer.answer)]
    return f"{name} is returned as {answer.element}{shapes[0]}, not {buffer.element}{shapes[1]}"
