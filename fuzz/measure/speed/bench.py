"""A kernel is tested, timed, and judged again: only then it has a figure.

Knows the order of these steps. The protocol, the rivals and the meaning of figures have their own files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.plans.plan import input_shapes
from kfuzz.claims.kernel import Kernel
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import ClaimError, Device, OutOfMemory
from kfuzz.devices.vendor import GpuSession
from kfuzz.devices.vendors import vendor
from kfuzz.measure.speed.calls import make_subject
from kfuzz.measure.speed.copies import ClearingClock, copies
from kfuzz.measure.speed.entrant import (
    Rotation,
    TimedSubject,
    answers_of,
    bound_at,
    choose_rows,
    find_unwritten_output,
    inputs_of,
    lend_inputs,
    traffic_of,
)
from kfuzz.measure.speed.figures import GpuFigures, Heat, beyond_physics
from kfuzz.measure.speed.products import cost_of, products
from kfuzz.measure.speed.protocol import find_fastest, rotation_of, time_in_turns
from kfuzz.measure.speed.rivals import rivals
from kfuzz.measure.speed.sizes import axes_text, tunes_at
from kfuzz.oracle import judge

TRIALS, RUNS, TIMEOUT = 24, 3, 10.0
"""The trials before any timing, with small cases and hostile values."""
UNSEEN = 1 << 20
"""A seed that no set of buffers was filled with while times were taken."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class KernelTimes:
    """The times of a kernel at all its sizes. `refused` says why it has none."""

    kernel: str
    op: str
    races: tuple[Heat, ...] = ()
    refused: str = ""


def time_kernel(
    kernel: Kernel, sizes: Sequence[Mapping[str, int]], against: Sequence[str], device: Device, tell: Tell
) -> KernelTimes:
    """Time a kernel that passes the oracle, with copies and rivals."""
    tell(f"{kernel.name}: {TRIALS} trials")
    if reason := find_failure(kernel, device):
        return KernelTimes(kernel.name, kernel.shown_op, refused=reason)
    if not sizes:
        return KernelTimes(
            kernel.name, kernel.op, refused="its claim holds none of the usual sizes: name one with --size"
        )
    races = []
    with vendor().session() as session:
        for axes in sizes:
            tell(f"{kernel.name}: {axes_text(dict(axes))}")
            races.append(race(session, kernel, dict(axes), against))
    return KernelTimes(kernel.name, kernel.shown_op, tuple(races))


def find_failure(kernel: Kernel, device: Device) -> str:
    """The message of the first broken trial; empty if all trials pass."""
    for index in range(TRIALS):
        attempt = attempt_of(kernel, 0, index)
        probe = probe_of(kernel, 0, index, RUNS, time_limits().call or TIMEOUT)
        trial = run_trial(kernel, attempt.case, attempt.tune, device, probe)
        for defect in trial.errors:
            return f"it is broken: {defect.bucket}: {defect.message}"
    return ""


def race(session: GpuSession, kernel: Kernel, axes: dict[str, int], against: Sequence[str]) -> Heat:
    """One size: the kernel's fastest launch, the rivals and the copies in turns; then its answer is judged."""
    bounds = {tuple(tune.items()): bound_at(kernel, axes, tune) for tune in tunes_at(kernel, axes)}
    first = next(iter(bounds.values()))
    traffic = traffic_of(kernel, first.job)
    gpu = GpuFigures(session.gpu.name, session.cache, session.peak)
    sets = rotation_of(traffic.total, gpu.cache)
    try:
        clock = ClearingClock(session)
        choose_rows(kernel, first.job, 0)
        arrays = Rotation(kernel, first, sets)
        entrants = {tune: make_subject(session, arrays.for_launch(bound)) for tune, bound in bounds.items()}
        chosen = find_fastest([one.contestant(dict(tune)) for tune, one in entrants.items()], clock, sets)
        beside, absent = rivals(against, kernel.op, session, lend_inputs(arrays))
        by_cublas = products(kernel.op, session, lend_inputs(arrays))
        anchors = [*by_cublas, *copies(session, traffic.total, sets)]
        recorded = time_in_turns([chosen, *beside, *anchors], clock, sets)
        reason = check_timed_answer(session, entrants[chosen.tune])
    except (ClaimError, OutOfMemory) as error:
        return Heat(axes, traffic, (), (), (), {kernel.name: str(error)})
    own, others, held = recorded[0], recorded[1 : 1 + len(beside)], recorded[1 + len(beside) :]
    reason = reason or beyond_physics(own, traffic, gpu, sets * traffic.total)
    refused = {kernel.name: reason} if reason else {}
    of_role, element = input_shapes(kernel, axes), first.job.buffers[0].element
    return Heat(
        axes, traffic, () if reason else (own,), others, held[len(by_cublas) :], {**refused, **absent},
        held[: len(by_cublas)], cost_of(kernel.op, of_role, element, session),
    )  # fmt: skip


def check_timed_answer(session: GpuSession, entrant: TimedSubject) -> str:
    """What is wrong with the answer to numbers that it has not seen, by the very functions that were timed.

    They replace the numbers with which it was timed, so an answer that it remembers is wrong.
    """
    arrays, kernel = entrant.arrays, entrant.arrays.kernel
    graph = entrant.graph(1)
    session.wait()  # for what was launched while it was recorded, and is no part of it
    arrays.renew(0, UNSEEN)
    rows = choose_rows(kernel, arrays.bound.job, UNSEEN)
    given = inputs_of(arrays, 0, rows)
    graph.replay()
    session.wait()
    if reason := entrant.deliver_answers():
        return reason
    if name := find_unwritten_output(arrays, 0):
        return f"once it is timed it leaves elements of {name} unwritten: it skips work, or is not done when it says so"
    got = answers_of(arrays, 0, rows)
    verdict = judge(kernel.op, given, got, arrays.bound.accuracy, kernel.special, arrays.bound.scalars)
    if verdict.status == "kept":
        return ""
    said = verdict.diagnosis or ", ".join(map(str, verdict.reasons))
    return f"once it is timed its answer is {verdict.status}: {said}"
