"""What judging the kernels of narrow types costs: processor seconds for a million elements, on one core.

    python -m benchmarks.cost measure narrow_judging [OP ...]

Each right kernel runs once on the cpu device on normal numbers, and its answer is judged twice; the better counts.
Elements are those of all inputs and outputs; judging includes the exact answer and the enclosure. It happens in a
process that has one thread and keeps freed memory, as the workers of a campaign do.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from math import prod
from multiprocessing import get_context

import numpy as np

from benchmarks.measurement import Figures
from kfuzz.cases.plans.plan import input_shapes
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.common.malloc import keep_freed_memory
from kfuzz.common.numpy_threads import use_one_thread
from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.runners import LAUNCHER
from kfuzz.oracle.judging.judge import judge

SIZES = {1: 1 << 20, 2: 1 << 10, 3: 256}
"""The size of each axis, by the number of axes; with more axes it is MANY."""
MANY, REPEATS = 64, 2


def seconds_a_million(kernel: Kernel) -> tuple[float, int]:
    """The processor seconds of judging this kernel's answer, for a million elements, and how many there are."""
    draw = np.random.default_rng(35)
    axes = {name: axis.near(SIZES.get(len(kernel.axes), MANY)) for name, axis in kernel.axes.items()}
    tune = {name: values[0] for name, values in kernel.tune.items()}
    if kernel.where and (found := kernel.where.near({**axes, **tune}, tuple(kernel.tune))):
        axes, tune = ({name: found[name] for name in names} for names in (axes, tune))
    given = {role: draw.standard_normal(shape).astype(np.float32) for role, shape in input_shapes(kernel, axes).items()}
    largest = max(array.size for array in given.values())
    given = {role: array if array.size == largest else np.abs(array) for role, array in given.items()}  # scales
    inputs = kernel.stored(given)
    bound = kernel.bind(given, tune)
    with CpuDevice() as device:
        (run, *_) = device.run(bound.job, Probe(runs=2, timeout=60.0)).runs
    answers = kernel.outputs(run.outputs, bound.sizes)
    elements, best = sum(prod(array.shape) for array in (*inputs.values(), *answers.values())), float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        verdict = judge(kernel.op, inputs, answers, bound.accuracy, kernel.special, bound.scalars)
        best = min(best, time.process_time() - began)
        assert verdict.status != "broken", (kernel.name, verdict)
    return best / elements * 1e6, elements


def measure(ops: Sequence[str]) -> Figures:
    """Measure the kernels; the dearest of each op is named."""
    every = [one for one in discover() if one.roles.grids and not one.broken and one.front.language.runner == LAUNCHER]
    chosen = [one for one in every if one.roles.op in ops or not ops]
    by_op: dict[str, list[tuple[float, int, str]]] = {}
    with use_one_thread(), ProcessPoolExecutor(1, get_context("spawn"), keep_freed_memory) as pool:
        for kernel, (seconds, elements) in zip(chosen, pool.map(seconds_a_million, chosen), strict=True):
            by_op.setdefault(kernel.roles.op, []).append((seconds, elements, kernel.name))
    return Figures(tables={"ops": [cost_of(op, costs) for op, costs in sorted(by_op.items())]})


def cost_of(op: str, costs: Sequence[tuple[float, int, str]]) -> dict[str, object]:
    """The figures of one op."""
    dearest, elements, name = max(costs)
    middle = float(np.median([one for one, _, _ in costs]))
    return {"op": op, "kernels": len(costs), "elements": elements, "median": middle, "dearest": dearest, "kernel": name}
