"""Trials per second of one GPU process, and where the time goes: python -m benchmarks.cost.gpu_device [TRIALS]

Three launches a run (softmax/grid_three_launches), n <= 2000, all cheap probes on, every answer judged.
"""

import importlib
import itertools
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kfuzz.campaign.schedule import attempt_of
from kfuzz.cases.plans.choose import seed_of
from kfuzz.cases.plans.plan import Attempt
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices import Job, Probe
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.devices.memory.layout import paint_image
from kfuzz.devices.memory.repeats import PaintedRun, plan_runs
from kfuzz.oracle import judge

KERNEL = load(KERNELS / "softmax" / "grid_three_launches.cu")
MOST, RUNS = 2000, 3
spent: dict[str, float] = defaultdict(float)


@contextmanager
def timed(part: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    spent[part] += time.perf_counter() - began


def small_attempts(count: int) -> list[Attempt]:
    """So many planned trials with n <= 2000."""
    found: list[Attempt] = []
    number = 0
    while len(found) < count:
        number += 1
        with timed("generation"):
            attempt = attempt_of(KERNEL, seed_of("benchmark", number), number % 40, budget=2 * MOST)
        if attempt.case.elements <= MOST:
            found.append(attempt)
    return found


def run_trials(device: GpuDevice, attempts: list[Attempt]) -> list[Job]:
    """Run and judge each of them as a campaign does."""
    jobs = []
    for number, attempt in enumerate(attempts):
        arrays = attempt.case.arrays
        with timed("binding"):
            bound = KERNEL.bind(arrays, attempt.tune)
            jobs.append(bound.job)
        with timed("device"):
            outcome = device.run(jobs[-1], Probe(seed=number))
        with timed("oracle"):
            verdict = judge(
                KERNEL.op, arrays, KERNEL.outputs(outcome.runs[0].outputs, bound.sizes), bound.accuracy, KERNEL.special
            )
        if outcome.findings or verdict.status == "broken":
            sys.exit(f"{attempt.case}: {outcome.findings or verdict.diagnosis}")
    return jobs


def inside_the_worker(jobs: list[Job]) -> dict[str, float]:
    """Microseconds of each part of one run: painting memory, the work of the GPU, and checking the results."""
    card = importlib.import_module("kfuzz.devices.gpu.launching").backend()
    parts: dict[str, float] = defaultdict(float)
    for job in jobs:  # compile, load, grow
        card.run(job, Probe(), _unheard)
    for number, job in enumerate(jobs):
        for part, steps in (("copies there and back, one launch", 1), (f"all {len(job.steps)} launches", 3)):
            runs = [replace(run, steps=steps) for run in plan_runs(job, Probe(runs=RUNS, seed=number))]
            laid = [PaintedRun(run, image) for run, image in zip(runs, card.images(runs), strict=True)]
            moments = [time.perf_counter()]
            for one in laid:
                paint_image(one.image, one.run.job, one.run.plan, one.run.where)
            moments.append(time.perf_counter())
            card.launch(laid)
            moments.append(time.perf_counter())
            paint, launched = (after - before for before, after in itertools.pairwise(moments))
            parts["painting the image"] += paint / 2
            parts[f"{part}, shared memory poisoned before each"] += launched
    began = time.perf_counter()
    for number, job in enumerate(jobs):
        card.run(job, Probe(runs=RUNS, seed=number), _unheard)
    parts["all of it, with placing, and looking at what came back"] = time.perf_counter() - began
    card.close()
    return {part: 1e6 * seconds / (RUNS * len(jobs)) for part, seconds in parts.items()}


def _unheard(part: str) -> None:
    """A progress callback that does nothing."""


def main(count: int) -> None:
    device = GpuDevice()
    attempts = small_attempts(count)
    run_trials(device, attempts[:50])
    spent.update(binding=0.0, device=0.0, oracle=0.0)
    jobs = run_trials(device, attempts)
    device.close()
    whole = sum(spent.values())
    print(f"{count / whole:.0f} trials/s in one process: {RUNS} runs of three launches each, n <= {MOST}")
    for part, seconds in spent.items():
        print(f"  {1e6 * seconds / count:8.0f} us a trial  {100 * seconds / whole:3.0f} %  {part}")
    print("inside the device, a run:")
    for part, microseconds in inside_the_worker(jobs).items():
        print(f"  {microseconds:8.1f} us  {part}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
