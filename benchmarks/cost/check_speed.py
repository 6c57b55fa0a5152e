"""Measure the cost of checking every access: `python -m benchmarks.cost measure check_speed`.

It runs every correct kernel at sizes at which a run takes milliseconds, and compares the time of a run in which every
access is checked with one in which no access is; it also counts the accesses checked per second. Use idle cores. The
order is mixed, so that the kernels of a run of --for SECONDS are a fair sample.
"""

import argparse
import hashlib
import math
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.measurement import Figures, records
from kfuzz.cases.plans.plan import input_shapes
from kfuzz.claims.kernel import KERNELS, Kernel, discover, load
from kfuzz.devices import Job
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.abi import Runtime, Schedule, Status
from kfuzz.devices.cpu.backend import LoadedFlavour, PlacedJob
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.memory.layout import POISONS

SIDE = {1: 1 << 14, 2: 96, 3: 48}
"""The first size of an array with so many axes; it doubles along one axis after the other."""
LEAST, LONGEST, MOST = 0.006, 20.0, 1 << 22
"""Enough seconds of a run without checks, and with checks; the most elements of all arrays."""
REPEATS = 9
SELDOM = 1 << 20
"""Switches between threads are so rare that they take no time; this setting makes the checker count accesses."""


@dataclass(frozen=True)
class Cost:
    """One kernel: milliseconds of its fastest run of either flavour, their ratio, and accesses in millions."""

    name: str
    sizes: str
    fast: float
    checked: float
    ratio: float
    accesses: float
    rate: float


def measure(options: Sequence[str]) -> Figures:
    """Measure all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="kernels that are measured side by side")
    parser.add_argument("--only", default="", help="kernels whose names begin so")
    parser.add_argument(
        "--for", dest="limit", type=float, default=math.inf, help="start no kernel after so many seconds"
    )
    chosen = parser.parse_args(options)
    names = [one.name for one in discover() if one.broken is None and one.name.startswith(chosen.only)]
    names.sort(key=lambda name: hashlib.sha256(name.encode()).digest())
    costs, last = list[Cost](), time.monotonic() + chosen.limit
    with ProcessPoolExecutor(chosen.jobs, max_tasks_per_child=1) as pool:
        for one in filter(None, pool.map(partial(cost_before, last), names)):
            print(one, file=sys.stderr, flush=True)
            costs.append(one)
    numbers = {"turns": REPEATS, "chosen": len(names)}
    return Figures(numbers, {"kernels": records(sorted(costs, key=lambda one: -one.ratio))})


def cost_before(last: float, name: str) -> Cost | None:
    """The cost of one kernel, if it is not too late to begin."""
    return cost_of(name) if time.monotonic() < last else None


def cost_of(name: str) -> Cost:
    """The cost of one kernel."""
    kernel = load(KERNELS / f"{name}.cu")
    runtime = Runtime(toolchain.build_runtime())
    sizes = grown(kernel, runtime)
    job = job_at(kernel, sizes)
    fast, check = (laid_out(job, flavour) for flavour in ("fast", "check"))
    turns = [(seconds(fast, runtime), seconds(check, runtime)) for _ in range(REPEATS)]
    counted = check.run(runtime, Manner(Schedule.forward, POISONS[0], preempt_one_in=SELDOM), LONGEST)
    assert counted.status == Status.finished
    shown = ", ".join(f"{axis} {size}" for axis, size in sizes.items())
    least_fast, least_check = (min(column) for column in zip(*turns, strict=True))
    millions = check.accesses / 1e6
    ratio, rate = least_check / least_fast, millions / least_check
    return Cost(name, shown, least_fast * 1e3, least_check * 1e3, ratio, millions, rate)


def grown(kernel: Kernel, runtime: Runtime) -> dict[str, int]:
    """Sizes at which a run without checks takes long enough to measure, or the largest that fit."""
    side = SIDE.get(len(kernel.axes), 8)
    chosen = {name: axis.near(side) for name, axis in kernel.axes.items()}
    sizes = fitting(kernel, chosen)
    for round_ in range(40):
        job = job_at(kernel, sizes)
        one = laid_out(job, "fast")
        if min(seconds(one, runtime) for _ in range(2)) >= LEAST:  # the first run maps pages
            break
        name = list(kernel.axes)[round_ % len(kernel.axes)]
        chosen = {**chosen, name: kernel.axes[name].near(2 * chosen[name])}
        larger = fitting(kernel, chosen)
        if sum(math.prod(one.shape) for one in job_at(kernel, larger).buffers) > MOST:
            break
        sizes = larger
    return sizes


def fitting(kernel: Kernel, chosen: dict[str, int]) -> dict[str, int]:
    """The nearest sizes that the claim allows."""
    if next(kernel.tunes(chosen), None) is not None:
        return chosen
    middle = {name: values[len(values) // 2] for name, values in kernel.tune.items()}
    found = kernel.where.near({**chosen, **middle}, tuple(kernel.axes))
    return {name: found[name] for name in kernel.axes} if found else chosen


def job_at(kernel: Kernel, sizes: dict[str, int]) -> Job:
    """A job with normal numbers, at the middle one of its launches."""
    draw = np.random.default_rng(7)
    inputs = {
        role: draw.standard_normal(shape).astype(np.float32) * np.float32(1000 if role in kernel.roles.integers else 1)
        for role, shape in input_shapes(kernel, sizes).items()
    }
    tunes = list(kernel.tunes(sizes))
    return kernel.bind(inputs, tunes[len(tunes) // 2]).job


def laid_out(job: Job, flavour: Flavour) -> PlacedJob:
    """The job in this flavour, in this process."""
    return PlacedJob(job, LoadedFlavour(job, flavour), 0)


def seconds(one: PlacedJob, runtime: Runtime) -> float:
    """The wall time of a run: the processor's clock may tick only every few milliseconds."""
    began = time.perf_counter()
    done = one.run(runtime, Manner(Schedule.forward, POISONS[0]), LONGEST)
    assert done.status == Status.finished, done
    return time.perf_counter() - began
