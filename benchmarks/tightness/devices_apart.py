"""Measure the distance between two devices' answers, in floats from one to the other.

    python -m benchmarks.tightness measure devices_apart gpu cpu [TRIALS]

Every correct kernel runs with the same cases and launches on both. Both answers are judged: a difference is not an
error if both lie in the enclosure.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.measurement import Figures, records
from kfuzz.campaign.device import open_device
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.cases.plans.choose import seed_of
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.devices import Device, Run
from kfuzz.oracle import judge

AT_ONCE = 8
BUDGET = 1 << 12
SEED = seed_of("devices apart")


@dataclass(frozen=True)
class Apart:
    """How two devices' answers for one kernel compare."""

    kernel: str
    trials: int = 0
    elements: int = 0
    unlike: int = 0
    most_ulps: int = 0
    broken: int = 0


def ordered(array: NDArray[np.generic]) -> NDArray[np.int64]:
    """Float32 values as integers in their own order, neighbours one apart, both zeros alike."""
    bits = np.ascontiguousarray(array, np.float32).reshape(-1).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def ulps(one: NDArray[np.generic], other: NDArray[np.generic]) -> NDArray[np.int64]:
    """Steps from float to float between two answers; two NaN are equal, a NaN and a number are furthest apart."""
    nan, other_nan = np.isnan(one).reshape(-1), np.isnan(other).reshape(-1)
    apart = np.abs(ordered(one) - ordered(other))
    return np.where(nan & other_nan, 0, np.where(nan | other_nan, 1 << 32, apart))


def compared(kernel: Kernel, names: tuple[str, str], trials: int) -> Apart:
    devices = [open_device(name) for name in names]
    try:
        total = Apart(kernel.name)
        for index in range(trials):
            total = compared_once(kernel, devices, index, total)
        return total
    finally:
        for device in devices:
            device.close()


def compared_once(kernel: Kernel, devices: list[Device], index: int, total: Apart) -> Apart:
    """The total with one more trial; it counts as broken if a device does not finish it or reports an error."""
    attempt, probe = (
        attempt_of(kernel, SEED, index, BUDGET),
        replace(probe_of(kernel, SEED, index, 2, 10.0), check=False),
    )
    arrays = attempt.case.arrays
    bound = kernel.bind(arrays, attempt.tune)
    outcomes = [device.run(bound.job, probe) for device in devices]
    if any(outcome.findings or not outcome.runs for outcome in outcomes):
        return replace(total, trials=total.trials + 1, broken=total.broken + 1)
    runs: list[Run] = [outcome.runs[0] for outcome in outcomes]
    answers = [kernel.outputs(run.outputs, bound.sizes) for run in runs]
    verdicts = [judge(kernel.op, arrays, got, bound.accuracy, kernel.special) for got in answers]
    steps = np.concatenate([ulps(answers[0][role], answers[1][role]) for role in answers[0]])
    judged_alike = "not judged" not in {verdict.status for verdict in verdicts}
    return Apart(
        kernel.name,
        total.trials + 1,
        total.elements + steps.size,
        total.unlike + int(np.count_nonzero(steps)),
        max(total.most_ulps, int(steps.max(initial=0)) if judged_alike else 0),
        total.broken + any(verdict.status == "broken" for verdict in verdicts),
    )


def measure(arguments: Sequence[str]) -> Figures:
    """Compare the two devices kernel by kernel."""
    one, other, *rest = arguments
    kernels, trials = [kernel for kernel in discover() if not kernel.broken], int(rest[0]) if rest else 100
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(lambda kernel: compared(kernel, (one, other), trials), kernels)
        return Figures({"devices": [one, other]}, {"kernels": records(found)})
