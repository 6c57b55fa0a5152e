"""Counts the roundings of a call by those of its launches, each of which is counted as a job of the cpu device.

What lies between launches is not counted, so a launch may read what the call was given, zeros, and memory without
content; and an output must be what one launch has left, bit by bit. A float that it is given must be the same for
other inputs. Knows calls and jobs; it knows no claim.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Call, Circumstances, Decoy, Job, Outcome, Probe, Refusal, Run
from kfuzz.devices.counted_calls import CountOptions
from kfuzz.devices.cpu.counting import (
    FIELDS,
    LIBRARY_ADDS,
    TALLY,
    Counter,
    RunCounts,
    UncountedError,
    counts_of,
    raw_trails,
)
from kfuzz.devices.memory.layout import ALIGNED, POISONS, Bytes
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.calling import Caller, RefusedError
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.extensions import CALLS, LeftArrays
from kfuzz.devices.python.launched.arguments import OF_BITS
from kfuzz.devices.python.other_sizes import lay_out, sizes_of
from kfuzz.devices.python.probes import decoy_of
from kfuzz.oracle.numbers.elements import F32

READS_OTHERS = "a launch reads what another one, or the library, has computed"
GIVES_OTHERS = "an output is not what one launch has left"
TAKES_OTHERS = "a launch takes a float that depends on the inputs"


class CallCounter:
    """Counts calls of Python callables, in processes of their own."""

    def __init__(self) -> None:
        self._device = PythonDevice("cpu", returns_outputs=False)

    def count(self, job: Job, seed: int = 0, timeout: float = 10.0) -> RunCounts | None:
        """Count in one call of the job; None if it does not end. Raises UncountedError and what a device may raise."""
        options = (CountOptions(is_counted=True),)
        return counts_of(self._device.run(job, Probe(runs=1, seed=seed, timeout=timeout, options=options)), job)

    def close(self) -> None:
        """End the processes."""
        self._device.close()


@dataclass(frozen=True)
class CountedLaunch:
    """A launch as a job, the arrays that it left, and its counts."""

    job: Job
    left: LeftArrays
    counts: RunCounts


def examine_counted(caller: Caller, probe: Probe) -> Outcome:
    """The trails of the outputs of one call; a refusal says why they are not known."""
    word, launches = POISONS[0], list[CountedLaunch]()
    caller.memory.room(ALIGNED, at_end=False)
    stretches, views = lay_out(caller, caller.memory, word)
    known = [stretches[one.name].read() for one in caller.job.buffers if one.content is not None]
    try:
        with _watched(caller, probe, word, _counting(_counter_of_process(), probe, launches)):
            returned = caller.answers(views, sizes_of(caller))
        outputs = [one for one in caller.job.buffers if one.is_output]
        arrays = {one.name: returned[one.name] if one.name in returned else views[one.name].read() for one in outputs}
        _check_inputs(launches, known)
        if any(_takes_float(one.job) for one in launches):
            for buffer in (one for one in caller.job.buffers if one.content is not None):
                stretches[buffer.name].write(decoy_of(buffer, Decoy.NEAR).reshape(-1).view(np.uint8))
            jobs = list[Job]()
            with _watched(caller, probe, word, lambda job, _: jobs.append(job)):
                caller.answers(views, sizes_of(caller))
            if list(map(_arguments_of, jobs)) != [_arguments_of(one.job) for one in launches]:
                raise UncountedError(TAKES_OTHERS)
        trails = {one.name: _trails_of(one, arrays[one.name], launches) for one in outputs}
    except RefusedError as error:
        return Outcome(refusal=error.refusal)
    except UncountedError as error:
        return Outcome(refusal=Refusal(str(error)))
    except Fault:
        return Outcome()
    tally = np.sum([(one.lost, one.crowded, one.exps, one.unshifted) for one in (each.counts for each in launches)], 0)
    return Outcome((Run(Circumstances(), {**trails, TALLY: tally.astype(np.uint32)}),))


@cache
def _counter_of_process() -> Counter:
    """One for all calls, which ends with this process."""
    return Counter()


@contextmanager
def _watched(caller: Caller, probe: Probe, word: int, tell: Callable[[Job, LeftArrays], None]) -> Iterator[None]:
    """Watch a call, whose new memory is full of a poison, and tell its launches."""
    watched = CALLS.watch(replace(probe, check=False), word, 0)
    with caller.lender.watch(word), watched, CALLS.tell_launches(tell):
        yield


def _takes_float(job: Job) -> bool:
    return any(one in text for text in _arguments_of(job)[0] for one in OF_BITS.values())


def _arguments_of(job: Job) -> tuple[tuple[str, ...], tuple[str | int, ...]]:
    """The arguments of a launch, in which floats are bits."""
    (step,) = job.steps
    assert isinstance(step.entry, Call), "a launch has no other entry"
    return step.entry.arguments, step.args


def _counting(counter: Counter, probe: Probe, launches: list[CountedLaunch]) -> Callable[[Job, LeftArrays], None]:
    def count(job: Job, left: LeftArrays) -> None:
        counts = counter.count(job, probe.seed, probe.timeout)
        if counts is None:
            raise UncountedError("a launch does not come to its end while it is counted")
        launches.append(CountedLaunch(job, left, counts))

    return count


def _check_inputs(launches: Sequence[CountedLaunch], known: Sequence[Bytes]) -> None:
    """UncountedError unless every number that a launch may read has gone through nothing."""
    if not launches:
        raise UncountedError(LIBRARY_ADDS)
    for buffer in (one for launch in launches for one in launch.job.buffers):
        if buffer.content is None or (buffer.element.bytes > 1 and not buffer.element.is_float):
            continue
        given = buffer.content.reshape(-1).view(np.uint8)
        if given.any() and not any(np.array_equal(given, one) for one in known):
            raise UncountedError(READS_OTHERS)


def _trails_of(buffer: Buffer, array: NDArray[np.generic], launches: Sequence[CountedLaunch]) -> NDArray[np.uint32]:
    """The trails of an output; integers have none."""
    if not buffer.element.is_float:
        return np.zeros((*buffer.answer, len(FIELDS)), np.uint32)
    whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if buffer.element is F32:
        for trails in _trails_by_bytes(whole, launches):
            return trails.reshape(*buffer.answer, len(FIELDS))
    raise UncountedError(GIVES_OTHERS)


def _trails_by_bytes(whole: Bytes, launches: Sequence[CountedLaunch]) -> Iterator[NDArray[np.uint32]]:
    """The trails of the arrays that some launch has left with these bytes."""
    for launch in reversed(launches):
        for name, left in launch.left.items():
            if left.dtype == F32.dtype and np.array_equal(left.reshape(-1).view(np.uint8), whole):
                yield raw_trails(launch.counts.outputs[name]).reshape(-1, len(FIELDS))
