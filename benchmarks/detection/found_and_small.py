"""How soon kfuzz finds the defect of each kernel of kernels/broken, and how small it makes the case that shows it.

    python -m benchmarks.detection measure found_and_small [--seeds 10] [--trials 300] [--found] [--narrow] [KERNEL...]

For each seed, the trials of a campaign run until one shows the kind of defect that the kernel declares; that
very case, not a smaller one found later, is then minimized, unless --found is given. --narrow chooses the kernels of
8 and 4 bits.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context

from benchmarks.detection.hunt import Quarry, hunt
from benchmarks.measurement import Figures, Record
from kfuzz.campaign.device import open_device
from kfuzz.campaign.minimizing.minimize import Minimized, minimize
from kfuzz.claims.kernel import Kernel, discover

Catch = tuple[Quarry, Minimized | None]
SLOWEST = ("broken/grid_65535_rows", "broken/index_overflow", "broken/never_meets_its_end")
"""The kernels that start first, so that no process waits for them at the end."""


def measure(arguments: Sequence[str]) -> Figures:
    """Hunt and minimize."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--found", action="store_true", help="do not minimize")
    parser.add_argument("--narrow", action="store_true", help="kernels of 8 and 4 bits alone")
    asked = parser.parse_args(arguments)
    kernels = [kernel for kernel in discover() if kernel.broken and (kernel.roles.grids or not asked.narrow)]
    chosen = [kernel for kernel in kernels if not asked.kernels or kernel.name.split("/")[1] in asked.kernels]
    began, rows = time.monotonic(), []
    one = partial(caught, trials=asked.trials, device=asked.device, minimizes=not asked.found)
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        running: dict[str, list[Future[Catch | None]]] = {}
        for kernel in sorted(chosen, key=lambda kernel: kernel.name not in SLOWEST):
            running[kernel.name] = [pool.submit(one, kernel, seed) for seed in range(asked.seeds)]
        for kernel in chosen:
            found = [catch for task in running[kernel.name] if (catch := task.result())]
            rows.append(record(kernel, found, asked.seeds))
            print(rows[-1], file=sys.stderr, flush=True)
    numbers = {"device": asked.device, "jobs": asked.jobs, "seconds": time.monotonic() - began}
    return Figures(numbers, {"kernels": rows})


def caught(kernel: Kernel, seed: int, trials: int, device: str, minimizes: bool) -> Catch | None:
    """The first trial from a seed that shows the kernel's defect, and its minimized case; None if no trial does."""
    assert kernel.broken
    with closing(open_device(device)) as at:
        quarry = hunt(kernel, kernel.broken.kind, seed, at, trials, kernel.broken.severity)
        return quarry and (quarry, minimize(quarry.failure, at) if minimizes else None)


def record(kernel: Kernel, found: list[Catch], seeds: int) -> Record:
    """The figures of one kernel; those of the minimized cases are None where none was minimized."""
    assert kernel.broken
    trials = [quarry.trials for quarry, _ in found]
    small = [minimized for _, minimized in found if minimized]
    largest = max(small, key=lambda one: one.failure.subject.weight).failure.subject if small else None
    launch = " ".join(f"{name}={value}" for name, value in largest.tune.items()) if largest else ""
    return {
        "kernel": kernel.name, "kind": kernel.broken.kind, "found": len(found), "seeds": seeds,
        "median": statistics.median(trials) if trials else None, "worst": max(trials, default=None),
        "largest": f"{largest.case}; {launch}" if largest else None,
        "before": max(quarry.failure.subject.case.elements for quarry, _ in found) if small else None,
        "tried": max(one.tried for one in small) if small else None,
        "seconds": statistics.median(one.seconds for one in small) if small else None,
        "most_seconds": max(one.seconds for one in small) if small else None,
    }  # fmt: skip
