"""Captures a call in a CUDA graph and replays it: with other numbers in its arrays, and after calls of other sizes.

The library records and replays. Knows callers and memory; it does not know what a right answer is.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kfuzz.devices import Circumstances, Decoy, Finding, Outcome, Probe, Run, Untried
from kfuzz.devices.memory.layout import ALIGNED, POISONS, Bytes
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.calling import Caller, NamedArrays, NamedViews, RefusedError
from kfuzz.devices.python.lending import GraphLender
from kfuzz.devices.python.lent_memory import Stretch
from kfuzz.devices.python.other_sizes import call_other_sizes, first_content, lay_out, sizes_of
from kfuzz.devices.python.probes import decoy_of
from kfuzz.oracle.numbers.plural import plural


def examine_captured(caller: Caller, probe: Probe) -> Outcome:
    """The answers of a call and of its replays, in the order of devices.capture.REPLAYS."""
    if not isinstance(caller.lender, GraphLender):
        return Outcome(untried=Untried.NO_GRAPHS)
    try:
        runs = [Run(Circumstances(), outputs) for outputs in _answers(caller, caller.lender, probe)]
    except RefusedError as error:
        return Outcome(refusal=error.refusal)
    except Fault as fault:
        return Outcome(findings=(fault.finding,), ended=caller.memory.is_spent)
    return Outcome(tuple(runs))


def _answers(caller: Caller, lender: GraphLender, probe: Probe) -> Iterator[NamedArrays]:
    job, word = caller.job, POISONS[probe.seed % len(POISONS)]
    caller.memory.room(ALIGNED, at_end=False)  # what lay beside it may be written again
    stretches, views = lay_out(caller, caller.memory, word)
    real = {one.name: first_content(one, word) for one in job.buffers if one.name in stretches}
    decoys = {one.name: _bytes(decoy_of(one, Decoy.TURNED)) for one in job.buffers if one.content is not None}
    sizes = sizes_of(caller)
    eager = caller.answers(views, sizes)
    yield _outputs(caller, views, eager)
    _write(stretches, real | decoys)
    captured = caller.capture(lender, views, sizes)

    def replay(content: dict[str, Bytes]) -> NamedArrays:
        _write(stretches, content)
        captured.replay()
        return _outputs(caller, views, caller.accept(captured.value))

    yield replay(real)
    call_other_sizes(caller, job, word, _unwatched)
    count_changed = lender.occupy_free(word)
    replay(real | decoys)
    last = replay(real)
    if changed := count_changed():
        message = f"freed memory is written: {plural(changed, 'word')}"
        raise Fault(Finding("use-after-free", message, step=0))
    yield last


@contextmanager
def _unwatched(_: Caller) -> Iterator[None]:
    yield


def _bytes(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Bytes:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _write(stretches: dict[str, Stretch], content: dict[str, Bytes]) -> None:
    for name, stretch in stretches.items():
        stretch.write(content[name])


def _outputs(caller: Caller, views: NamedViews, returned: NamedArrays) -> NamedArrays:
    """The outputs, those that were passed and those that were returned."""
    outputs = [one for one in caller.job.buffers if one.is_output]
    return {one.name: returned[one.name] if one.name in returned else views[one.name].read() for one in outputs}
