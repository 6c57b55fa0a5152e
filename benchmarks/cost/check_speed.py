"""Measure the cost of checking every access: `python -m benchmarks.cost.check_speed`.

It runs every correct kernel at sizes at which a run takes milliseconds, and compares the time of a run in which every
access is checked with one in which no access is; it also counts the accesses checked per second. Use idle cores.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median

import numpy as np

from kfuzz.claims.kernel import KERNELS, Kernel, discover, load
from kfuzz.cpu import toolchain
from kfuzz.cpu.abi import Runtime, Schedule, Status
from kfuzz.cpu.backend import LoadedFlavour, PlacedJob
from kfuzz.cpu.experiments import Manner
from kfuzz.cpu.options import Flavour
from kfuzz.devices import Job
from kfuzz.devices.layout import POISONS
from kfuzz.search.plan import shapes

SIDE = {1: 1 << 14, 2: 96, 3: 48}
"""The first size of an array with so many axes; it doubles along one axis after the other."""
LEAST, LONGEST, MOST = 0.006, 20.0, 1 << 22
"""Enough seconds of a run without checks, and with checks; the most elements of all arrays."""
REPEATS = 9
SELDOM = 1 << 20
"""Switches between threads are so rare that they take no time; this setting makes the checker count accesses."""
AIM, RATE = 4.0, 15.0
"""The aims: at most so many times as long, and at least so many million accesses per second."""
BUSY = 500_000
"""The number of accesses from which they determine the time of a kernel."""


@dataclass(frozen=True)
class Cost:
    """One kernel: the seconds of its fastest run of either flavour, and the number of accesses of a run."""

    name: str
    sizes: str
    fast: float
    check: float
    accesses: int

    @property
    def ratio(self) -> float:
        return self.check / self.fast

    @property
    def rate(self) -> float:
        """Million accesses per second."""
        return self.accesses / self.check / 1e6


def main() -> None:
    """Measure all of them and print the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="kernels that are measured side by side")
    parser.add_argument("--only", default="", help="kernels whose names begin so")
    chosen = parser.parse_args()
    names = [one.name for one in discover() if one.broken is None and one.name.startswith(chosen.only)]
    with ProcessPoolExecutor(chosen.jobs, max_tasks_per_child=1) as pool:
        costs = []
        for one in pool.map(cost_of, names):
            print(row(one), file=sys.stderr, flush=True)
            costs.append(one)
    print("\n".join(page(costs)))


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
    return Cost(name, shown, *(min(column) for column in zip(*turns, strict=True)), check.accesses)


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
        for role, shape in shapes(kernel, sizes).items()
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


def page(costs: list[Cost]) -> Iterator[str]:
    """A table of all kernels, the largest ratio first."""
    yield "# What it costs to look at every access"
    yield ""
    yield "The time of a run in which every access is checked, compared with"
    yield f"one in which no access is: the least of {REPEATS} turns each. An access is a load, store or atomic."
    yield ""
    ratios = [one.ratio for one in costs]
    within, busy = sum(one <= AIM for one in ratios), [one.rate for one in costs if one.accesses >= BUSY]
    fast = sum(one >= RATE for one in busy)
    yield f"{within} of {len(costs)} kernels take at most {AIM:g} times as long; the median is"
    yield f"{median(ratios):.1f} times as long, the largest ratio {max(ratios):.1f}. {len(busy)} kernels make half a"
    yield f"million accesses or more; {fast} of them check {RATE:g} million or more per second"
    if busy:
        yield f"(the least {min(busy):.0f}, the median {median(busy):.0f})."
    yield ""
    yield "| kernel | sizes | fast, ms | checked, ms | times | accesses, millions | a second, millions |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    yield from map(row, sorted(costs, key=lambda one: -one.ratio))


def row(one: Cost) -> str:
    """One kernel."""
    fast, check = (f"{1e3 * seconds:.1f}" for seconds in (one.fast, one.check))
    cells = (one.name, one.sizes, fast, check, f"{one.ratio:.1f}", f"{one.accesses / 1e6:.2f}", f"{one.rate:.0f}")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
