"""Runs one job several times in a GPU trial, and decides what the differences mean.

Knows memory images, poisons and bits. The launcher is passed in, so it knows no CUDA.
Long because every experiment is read beside the runs that it compares.
Long, since each run's reason follows from the differences between those before it.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Circumstances, Finding, Job, Outcome, Probe, Run, is_host
from kfuzz.devices.memory.comparing import bits, difference_mask, find_unwritten, find_written_absent
from kfuzz.devices.memory.layout import OUTPUT, POISONS, Arrangement, Bytes, Place, offsets, paint_image, places, plans

TURNS, MISSES = 24, 4
"""How often each of two ways to run a job is tried before a difference is attributed to what distinguishes them, and
how many of all those runs may deviate: another process on the GPU can overwrite the poison of shared memory.

A kernel that merely varies would have to repeat, in 44 of 48 runs, the answer that it first gave in the same way.
Whatever the probabilities of its answers, the chance of that is below 2^-30.
"""


class Fault(Exception):  # noqa: N818  a kernel caused it, not an error of this program
    """A launch that ended the context, or never ended."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True)
class Returned:
    """The results of a host function: the arrays that it returned, and the findings during the call."""

    arrays: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


NOTHING = Returned()


@dataclass(frozen=True)
class PlannedRun:
    """A run to make: the number of steps of a job, the plan, the places of its arrays, and their size in bytes."""

    job: Job
    plan: Arrangement
    steps: int
    where: tuple[Place, ...]
    size: int


@dataclass(frozen=True)
class PaintedRun:
    """A run, and its whole memory before the first launch."""

    run: PlannedRun
    image: Bytes


@dataclass(frozen=True)
class RunResult:
    """The results of a run: memory, which the next runs overwrite, and what its host functions returned."""

    memory: Bytes
    returned: Returned = NOTHING


class Launcher(Protocol):
    """Launches jobs: everything that a trial needs from a GPU."""

    def images(self, runs: Sequence[PlannedRun]) -> list[Bytes]:
        """Host memory for the images of these runs, which the caller paints; only for the first runs if they cannot
        all be made together.
        """

    def launch(self, laid: Sequence[PaintedRun]) -> list[RunResult]:
        """Make these runs one after another, or raise Fault."""


@dataclass(frozen=True)
class GpuRun:
    """One run of a job, and the faults that it showed."""

    job: Job
    plan: Arrangement
    run: Run
    faults: tuple[Finding, ...]


def examine(job: Job, probe: Probe, gpu: Launcher, passes: Sequence[GpuRun] = ()) -> Outcome:
    """Run a job as often as the probe says, unless that is already done (`passes`), and report every defect that a
    comparison of the runs proves.
    """
    until = time.monotonic() + probe.timeout
    passes = passes or list(make_runs(plan_runs(job, probe), gpu))
    job = passes[0].job

    def run(plan: Arrangement, steps: int = len(job.steps)) -> GpuRun:
        return next(make_runs([_plan_run(job, plan, offsets(job, probe.seed), steps)], gpu))

    findings = [_first_step(job, found, passed.plan, run) for found, passed in _distinct_faults(passes)]
    runs = tuple(one.run for one in passes)
    if any(found.kind == "wrong-shape" for found in findings):
        return Outcome((), tuple(findings))
    findings += find_unwritten(job, runs, [one.plan.word + OUTPUT for one in passes])
    findings += find_written_absent(job, runs, [one.plan.word + OUTPUT for one in passes])
    odd = next((one for one in passes[1:] if not _is_same(job, passes[0], one)), None)
    if odd is not None:
        findings.append(_explain(job, passes[0], odd, run, until))
    elif not findings:
        # All runs share the same arrays, so that they cross to the caller's process once.
        runs = tuple(replace(one, outputs=runs[0].outputs) for one in runs)
    return Outcome(runs, tuple(findings))


def _circumstances(job: Job, plan: Arrangement) -> Circumstances:
    edge = job.buffers[plan.order[-1] if plan.at_end else plan.order[0]].name if plan.order else "nothing"
    return Circumstances(after_calls=plan.after_calls, poison=plan.word, edge=edge, is_at_end=plan.at_end)


def plan_runs(job: Job, probe: Probe) -> list[PlannedRun]:
    """The runs with which a job is examined before any of them is known to differ."""
    job = replace(job, buffers=tuple(sorted(job.buffers, key=lambda one: one.is_returned)))  # those have no place
    distances = offsets(job, probe.seed)
    return [_plan_run(job, plan, distances, len(job.steps)) for plan in plans(job, max(probe.runs, 2), probe.seed)]


def _plan_run(job: Job, plan: Arrangement, distances: Sequence[int], steps: int) -> PlannedRun:
    return PlannedRun(job, plan, steps, *places(job, plan, distances))


def make_runs(wanted: Sequence[PlannedRun], gpu: Launcher) -> Iterator[GpuRun]:
    """Make runs of one or several jobs, as many together as the GPU takes, with one wait for all of them."""
    while wanted:
        laid = [PaintedRun(run, image) for run, image in zip(wanted, gpu.images(wanted), strict=False)]
        for one in laid:
            paint_image(one.image, one.run.job, one.run.plan, one.run.where)
        began = time.perf_counter()
        done = gpu.launch(laid)
        seconds = (time.perf_counter() - began) / len(laid)
        yield from [_look_at(one, left, seconds) for one, left in zip(laid, done, strict=True)]
        wanted = wanted[len(laid) :]


def _look_at(laid: PaintedRun, left: RunResult, seconds: float) -> GpuRun:
    outputs: dict[str, NDArray[np.generic]] = {}
    job, where = laid.run.job, laid.run.where
    sent, back = laid.image, left.memory
    changed = sent != back
    for place in where:
        buffer = job.buffers[place.buffer]
        if buffer.is_output:
            outputs[buffer.name] = (
                _array(buffer, place, back).ravel()[: prod(buffer.answer)].reshape(buffer.answer).copy()
            )
        if buffer.is_output or buffer.content is None:
            changed[place.start : place.stop] = False
    outputs |= left.returned.arrays
    faults = (*left.returned.findings, *(_find_faults(job, where, sent, back, changed) if changed.any() else ()))
    return GpuRun(job, laid.run.plan, Run(_circumstances(job, laid.run.plan), outputs, seconds), faults)


def _find_faults(
    job: Job, where: Sequence[Place], sent: Bytes, back: Bytes, changed: NDArray[np.bool_]
) -> Iterator[Finding]:
    """The findings for bytes that changed but must not change."""
    for place in where:
        buffer = job.buffers[place.buffer]
        yield from _find_broken_guards(buffer, place, changed)
        if changed[place.start : place.stop].any():
            yield _describe_changed_input(buffer, _array(buffer, place, sent), _array(buffer, place, back))


def _array(buffer: Buffer, place: Place, image: Bytes) -> NDArray[np.generic]:
    return image[place.start : place.stop].view(buffer.element.dtype).reshape(buffer.shape)


def _find_broken_guards(buffer: Buffer, place: Place, changed: NDArray[np.bool_]) -> Iterator[Finding]:
    """Writes beside an array: the changed byte nearest to it gives the place, as an index of the array."""
    size = buffer.element.bytes
    for first, last in ((place.before, place.start), (place.stop, place.after)):
        indices = np.unique((np.flatnonzero(changed[first:last]) + first - place.start) // size)
        if not len(indices):
            continue
        index = int(indices[0] if first == place.stop else indices[-1])
        many = f", {len(indices)} elements in all" if len(indices) > 1 else ""
        yield Finding(
            "out-of-bounds",
            f"write beside {buffer.name}: element {index} of {_describe(buffer)}{many}",
            array=buffer.name,
            index=index,
            count=len(indices),
        )


def _describe_changed_input(buffer: Buffer, before: NDArray[np.generic], after: NDArray[np.generic]) -> Finding:
    indices = np.flatnonzero(bits(before) != bits(after))
    index = int(indices[0])
    was, now = _hex(before, index), _hex(after, index)
    return Finding(
        "input-changed",
        f"{buffer.name} is an input, and element {index} went from {was} to {now}",
        array=buffer.name,
        index=index,
        count=len(indices),
    )


def _describe(buffer: Buffer) -> str:
    return f"{buffer.element}[{', '.join(map(str, buffer.shape))}]"


def _hex(array: NDArray[np.generic], index: int) -> str:
    return f"0x{int(bits(array)[index]):0{2 * array.dtype.itemsize}x}"


def _distinct_faults(passes: Sequence[GpuRun]) -> Iterator[tuple[Finding, GpuRun]]:
    """Each kind of fault once per array and side, from the first run that showed it."""
    seen = set()
    for passed in passes:
        for found in passed.faults:
            name = (found.kind, found.array, found.index is not None and found.index < 0)
            if name not in seen:
                seen.add(name)
                yield found, passed


def _first_step(job: Job, found: Finding, plan: Arrangement, run: Callable[[Arrangement, int], GpuRun]) -> Finding:
    """The same finding with the step that caused it: the first one after which it appears."""
    if len(job.steps) == 1:
        return replace(found, step=0)
    for steps in range(1, len(job.steps) + 1):
        if any((one.kind, one.array) == (found.kind, found.array) for one in run(plan, steps).faults):
            return replace(found, step=steps - 1)
    return found


def _find_difference(job: Job, left: GpuRun, right: GpuRun) -> tuple[str, int] | None:
    """The first output and index in which two runs differ, except for elements that neither of them wrote."""
    for which, buffer in enumerate(job.buffers):
        if not buffer.is_output:
            continue
        one, other = left.run.outputs[buffer.name], right.run.outputs[buffer.name]
        words = [poison_of(buffer, which, passed.plan) + OUTPUT for passed in (left, right)]
        where = difference_mask(buffer, one, words[0], other, words[1])
        if where.any():
            return buffer.name, int(np.flatnonzero(where)[0])
    return None


def poison_of(buffer: Buffer, which: int, plan: Arrangement) -> int:
    """The poison that an output holds before the first launch."""
    if buffer.is_returned and plan.host is not None:
        return plan.host
    return plan.inside.get(which, plan.word)


def _is_same(job: Job, left: GpuRun, right: GpuRun) -> bool:
    return _find_difference(job, left, right) is None


def _explain(job: Job, first: GpuRun, odd: GpuRun, run: Callable[[Arrangement], GpuRun], until: float) -> Finding:
    """Why two runs left different bits: they read something that was never written, or else the kernel varies."""
    output, index = _find_difference(job, first, odd) or ("", 0)
    values = f"{_hex(first.run.outputs[output], index)} and {_hex(odd.run.outputs[output], index)}"
    what = f"element {index} of {output} was {values}"
    word = next(other for other in (odd.plan.word, *POISONS) if other != first.plan.word)
    for suspect, plan in _list_suspects(job, first.plan, word):
        if _decides(job, first.plan, plan, run, until):
            return replace(suspect, message=f"{suspect.message}: {what}")
    return Finding(
        "nondeterministic", f"the same input gave different bits: {what}", severity="warning", array=output, index=index
    )


def _list_suspects(job: Job, plan: Arrangement, word: int) -> Iterator[tuple[Finding, Arrangement]]:
    """Each thing that a correct kernel cannot see, changed alone, with the finding if the result changes with it."""
    if job.earlier:
        message = "the result depends on what was called before"
        yield Finding("stateful", message, severity="warning"), replace(plan, after_calls=True)
    placed = [buffer for buffer in job.buffers if not buffer.is_returned]
    for which, buffer in enumerate(placed):
        message = f"read outside {buffer.name}: the result depends on what lies beside it"
        yield Finding("out-of-bounds", message, array=buffer.name), replace(plan, around={which: word})
    for which, buffer in enumerate(placed):
        if buffer.content is None and buffer.fill is None:
            message = f"read of {buffer.name} before it was written: the result depends on what was in it"
            yield Finding("uninitialised", message, array=buffer.name), replace(plan, inside={which: word})
    if any(is_host(step.entry) for step in job.steps):
        message = (
            "read of memory that a host function asks for, before it was written: the result depends on what was in it"
        )
        yield Finding("uninitialised", message), replace(plan, host=word)
    message = "read of shared memory before it was written: the result depends on what was in it"
    yield Finding("uninitialised", message), replace(plan, shared=word)


def _decides(
    job: Job, plan: Arrangement, other: Arrangement, run: Callable[[Arrangement], GpuRun], until: float
) -> bool:
    """Whether each of two plans, tried in an order that a kernel cannot follow, has an answer of its own."""
    answers = {False: run(plan), True: run(other)}
    if _is_same(job, answers[False], answers[True]):
        return False
    turns = random.Random("turns").sample([False, True] * TURNS, 2 * TURNS)  # noqa: S311  an order, not a secret
    misses = 0
    for turn in turns:
        if time.monotonic() > until or misses > MISSES:
            return False
        misses += not _is_same(job, answers[turn], run(other if turn else plan))
    return misses <= MISSES
