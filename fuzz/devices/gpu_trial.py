"""What a gpu trial does with one job: runs it several times, and tells what the differences mean.

Knows memory images, poisons and bits. What launches is passed in, so it knows no CUDA.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fuzz.devices import DTYPES, Buffer, Finding, Job, Outcome, Probe, Run
from fuzz.devices.layout import POISONS, Bytes, Place, Plan, offsets, paint_image, places, plans

PAIRS = 16
"""How often two ways to run a job take turns before a difference is put down to what tells them apart.

A kernel that merely varies, one way with chance p, passes for poison-dependent with chance 2 (p (1 - p))^16,
which is at most 2^-31.
"""


class Fault(Exception):  # noqa: N818  it is what a kernel did, not an error of this program
    """A launch that ended the context, or never ended."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class Card(Protocol):
    """Launches jobs: all that a trial needs of a GPU."""

    def image(self, nbytes: int) -> Bytes:
        """Host memory for an image of so many bytes, to be painted by the caller."""

    def launch(self, job: Job, plan: Plan, where: Sequence[Place], image: Bytes, steps: int) -> Bytes:
        """Send an image, launch the first `steps` steps, give back what memory holds then; or raise Fault.

        What is given back is overwritten by the next launch.
        """


@dataclass(frozen=True)
class _Pass:
    """One run: its outputs, which of their elements still hold the poison, and what it must not have done."""

    plan: Plan
    outputs: dict[str, NDArray[np.generic]]
    poisoned: dict[str, NDArray[np.bool_]]
    faults: tuple[Finding, ...]
    seconds: float


def examined(job: Job, probe: Probe, card: Card) -> Outcome:
    """Run a job as often as the probe says and report every defect that the runs, compared, prove."""
    distances = offsets(job, probe.seed)
    until = time.monotonic() + probe.timeout

    def run(plan: Plan, steps: int = len(job.steps)) -> _Pass:
        return _run(job, plan, distances, card, steps)

    passes = [run(plan) for plan in plans(job, probe.runs, probe.seed)]
    findings = [_first_step(job, found, passed.plan, run) for found, passed in _distinct_faults(passes)]
    findings += _unwritten(job, passes)
    if (odd := _disagreeing(passes)) is not None:
        findings.append(_explained(job, passes[0], odd, run, until))
    runs = tuple(Run(_label(job, one.plan), one.outputs, one.seconds) for one in passes)
    return Outcome(runs, tuple(findings))


def _label(job: Job, plan: Plan) -> str:
    edge = job.buffers[plan.order[-1] if plan.at_end else plan.order[0]].name if plan.order else "nothing"
    return f"poison {plan.word:08x}, {edge} at the {'end' if plan.at_end else 'start'} of memory"


def _run(job: Job, plan: Plan, distances: Sequence[int], card: Card, steps: int) -> _Pass:
    where, total = places(job, plan, distances)
    sent = card.image(total)
    paint_image(sent, job, plan, where)
    began = time.perf_counter()
    back = card.launch(job, plan, where, sent, steps)
    seconds = time.perf_counter() - began
    outputs, poisoned = {}, {}
    faults: list[Finding] = []
    for place in where:
        buffer = job.buffers[place.buffer]
        faults += _broken_guards(buffer, place, sent, back)
        before, after = _array(buffer, place, sent), _array(buffer, place, back)
        if buffer.is_output:
            outputs[buffer.name] = after.copy()
            if buffer.content is None and buffer.fill is None:
                poisoned[buffer.name] = _bits(before) == _bits(after)
        elif buffer.content is not None:
            faults += _changed_input(buffer, before, after)
    return _Pass(plan, outputs, poisoned, tuple(faults), seconds)


def _array(buffer: Buffer, place: Place, image: Bytes) -> NDArray[np.generic]:
    return image[place.start : place.stop].view(DTYPES[buffer.element]).reshape(buffer.shape)


def _bits(array: NDArray[np.generic]) -> NDArray[np.generic]:
    return array.view(f"u{array.dtype.itemsize}")


def _broken_guards(buffer: Buffer, place: Place, sent: Bytes, back: Bytes) -> Iterator[Finding]:
    """A write beside an array: the changed byte nearest to it says where, as an index of the array."""
    size = DTYPES[buffer.element].itemsize
    for first, last in ((place.before, place.start), (place.stop, place.after)):
        if np.array_equal(sent[first:last], back[first:last]):
            continue
        changed = np.unique((np.flatnonzero(sent[first:last] != back[first:last]) + first - place.start) // size)
        index = int(changed[0] if first == place.stop else changed[-1])
        many = f", {len(changed)} elements in all" if len(changed) > 1 else ""
        yield Finding(
            "out-of-bounds",
            f"write beside {buffer.name}: element {index} of {_described(buffer)}{many}",
            array=buffer.name,
            index=index,
            count=len(changed),
        )


def _changed_input(buffer: Buffer, before: NDArray[np.generic], after: NDArray[np.generic]) -> Iterator[Finding]:
    if np.array_equal(_bits(before), _bits(after)):
        return
    changed = np.flatnonzero(_bits(before).reshape(-1) != _bits(after).reshape(-1))
    index = int(changed[0])
    was, now = _hex(before, index), _hex(after, index)
    yield Finding(
        "input-changed",
        f"{buffer.name} is an input, and element {index} went from {was} to {now}",
        array=buffer.name,
        index=index,
        count=len(changed),
    )


def _described(buffer: Buffer) -> str:
    return f"{buffer.element}[{', '.join(map(str, buffer.shape))}]"


def _hex(array: NDArray[np.generic], index: int) -> str:
    return f"0x{int(_bits(array).reshape(-1)[index]):0{2 * array.dtype.itemsize}x}"


def _distinct_faults(passes: Sequence[_Pass]) -> Iterator[tuple[Finding, _Pass]]:
    """Each kind of fault once for each array and side, from the first run that showed it."""
    seen = set()
    for passed in passes:
        for found in passed.faults:
            name = (found.kind, found.array, found.index is not None and found.index < 0)
            if name not in seen:
                seen.add(name)
                yield found, passed


def _first_step(job: Job, found: Finding, plan: Plan, run: Callable[[Plan, int], _Pass]) -> Finding:
    """The same finding with the step that did it: the first one after which it is there."""
    if len(job.steps) == 1:
        return replace(found, step=0)
    for steps in range(1, len(job.steps) + 1):
        if any((one.kind, one.array) == (found.kind, found.array) for one in run(plan, steps).faults):
            return replace(found, step=steps - 1)
    return found


def _unwritten(job: Job, passes: Sequence[_Pass]) -> Iterator[Finding]:
    """Elements of outputs that hold the poison of the run in every run, though the poisons differ."""
    for buffer in job.buffers:
        masks = [one.poisoned[buffer.name] for one in passes if buffer.name in one.poisoned]
        if not masks or not (never := np.logical_and.reduce(masks)).any():
            continue
        missing = np.flatnonzero(never.reshape(-1))
        index = int(missing[0])
        yield Finding(
            "unwritten",
            f"element {index} of {buffer.name} is never written ({len(missing)} of {never.size} elements)",
            array=buffer.name,
            index=index,
            count=len(missing),
        )


def _same(left: _Pass, right: _Pass) -> bool:
    """Whether two runs left the same bits, but for elements that neither of them wrote."""
    return _difference(left, right) is None


def _difference(left: _Pass, right: _Pass) -> tuple[str, int] | None:
    for name, mine in left.outputs.items():
        other = right.outputs[name]
        if np.array_equal(_bits(mine), _bits(other)):
            continue
        unlike = _bits(mine) != _bits(other)
        if name in left.poisoned:
            unlike = unlike & ~(left.poisoned[name] & right.poisoned[name])
        if unlike.any():
            return name, int(np.flatnonzero(unlike.reshape(-1))[0])
    return None


def _disagreeing(passes: Sequence[_Pass]) -> _Pass | None:
    return next((one for one in passes[1:] if not _same(passes[0], one)), None)


def _explained(job: Job, first: _Pass, odd: _Pass, run: Callable[[Plan], _Pass], until: float) -> Finding:
    """Why two runs left different bits: what they read and nobody wrote, or else that the kernel varies."""
    output, index = _difference(first, odd) or ("", 0)
    values = f"{_hex(first.outputs[output], index)} and {_hex(odd.outputs[output], index)}"
    what = f"element {index} of {output} was {values}"
    if all(_same(first, run(first.plan)) for _ in range(2)):
        word = next(other for other in (odd.plan.word, *POISONS) if other != first.plan.word)
        for suspect, plan in _suspects(job, first.plan, word):
            if _decides(first.plan, plan, run, until):
                return replace(suspect, message=f"{suspect.message}: {what}")
    return Finding(
        "nondeterministic",
        f"the same input gave different bits: {what}",
        severity="warning",
        array=output,
        index=index,
    )


def _suspects(job: Job, plan: Plan, word: int) -> Iterator[tuple[Finding, Plan]]:
    """Each thing that a right kernel cannot see, changed alone, and what it means if the result follows."""
    for which, buffer in enumerate(job.buffers):
        message = f"read outside {buffer.name}: the result depends on what lies beside it"
        yield Finding("out-of-bounds", message, array=buffer.name), replace(plan, around={which: word})
    for which, buffer in enumerate(job.buffers):
        if buffer.content is None and buffer.fill is None:
            message = f"read of {buffer.name} before it was written: the result depends on what was in it"
            yield Finding("uninitialised", message, array=buffer.name), replace(plan, inside={which: word})
    message = "read of shared memory before it was written: the result depends on what was in it"
    yield Finding("uninitialised", message), replace(plan, shared=word)


def _decides(plan: Plan, other: Plan, run: Callable[[Plan], _Pass], until: float) -> bool:
    """Whether two plans, taking turns, each give their own bits every single time."""
    first, second = run(plan), run(other)
    if _same(first, second):
        return False
    for _ in itertools.repeat(None, PAIRS - 1):
        if time.monotonic() > until or not _same(first, run(plan)) or not _same(second, run(other)):
            return False
    return True
