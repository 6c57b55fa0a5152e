"""How soon kfuzz finds the defect of each kernel of kernels/broken, and how small it makes the case that shows it.

    python -m benchmarks.detection.found_and_small [--seeds 10] [--trials 300] [--found] [--narrow] [KERNEL...]

For each seed, the trials of a campaign run until one shows the kind of defect that the kernel declares; that
very case, not a smaller one found later, is then minimized, unless --found is given. --narrow chooses the kernels of
8 and 4 bits. Prints a table in Markdown.
"""

import argparse
import os
import statistics
import time
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from datetime import date
from functools import partial
from multiprocessing import get_context
from platform import machine, python_version

from benchmarks.detection.hunt import Quarry, hunt
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.find.device import open_device
from kfuzz.minimizing.minimize import Minimized, minimize

TITLES = ("kernel", "kind", "found in", "trials: median", "worst", "largest minimized case", "before, elements",
          "tried", "seconds: median", "worst")  # fmt: skip
HEAD = f"| {' | '.join(TITLES)} |\n{'|---' * len(TITLES)}|"


Catch = tuple[Quarry, Minimized | None]
SLOWEST = ("broken/grid_65535_rows", "broken/index_overflow", "broken/never_meets_its_end")
"""The kernels that start first, so that no process waits for them at the end."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--found", action="store_true", help="do not minimize")
    parser.add_argument("--narrow", action="store_true", help="kernels of 8 and 4 bits alone")
    asked = parser.parse_args()
    kernels = [kernel for kernel in discover() if kernel.broken and (kernel.roles.grids or not asked.narrow)]
    chosen = [kernel for kernel in kernels if not asked.kernels or kernel.name.split("/")[1] in asked.kernels]
    print(
        f"# Found and small\n\n{__doc__}\n{date.today()}, Python {python_version()}, {machine()}\n\n{HEAD}", flush=True
    )
    began, every = time.monotonic(), []
    one = partial(caught, trials=asked.trials, device=asked.device, minimizes=not asked.found)
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        running: dict[str, list[Future[Catch | None]]] = {}
        for kernel in sorted(chosen, key=lambda kernel: kernel.name not in SLOWEST):
            running[kernel.name] = [pool.submit(one, kernel, seed) for seed in range(asked.seeds)]
        for kernel in chosen:
            found = [catch for task in running[kernel.name] if (catch := task.result())]
            every += [quarry.trials for quarry, _ in found]
            print(line(kernel, found, asked.seeds), flush=True)
    print(f"\n{len(every)} of {len(chosen) * asked.seeds} found; trials: median {statistics.median(every):g}, "
          f"worst {max(every)}; device {asked.device}, {asked.jobs} at a time, "
          f"{time.monotonic() - began:.0f} s in all")  # fmt: skip


def caught(kernel: Kernel, seed: int, trials: int, device: str, minimizes: bool) -> Catch | None:
    """The first trial from a seed that shows the kernel's defect, and its minimized case; None if no trial does."""
    assert kernel.broken
    with closing(open_device(device)) as at:
        quarry = hunt(kernel, kernel.broken.kind, seed, at, trials, kernel.broken.severity)
        return quarry and (quarry, minimize(quarry.failure, at) if minimizes else None)


def line(kernel: Kernel, found: list[Catch], seeds: int) -> str:
    """One line of the table."""
    assert kernel.broken
    kind, count = kernel.broken.kind, f"{len(found)} of {seeds} seeds"
    if not found:
        return f"| `{kernel.name}` | {kind} | {count} | | | | | | | |"
    trials = [quarry.trials for quarry, _ in found]
    small = [minimized for _, minimized in found if minimized]
    if not small:
        return f"| `{kernel.name}` | {kind} | {count} | {statistics.median(trials):g} | {max(trials)} | | | | | |"
    largest = max(small, key=lambda one: one.failure.subject.weight)
    seconds = [one.seconds for one in small]
    before = max(quarry.failure.subject.case.elements for quarry, _ in found)
    words = str(largest.failure.subject.case).replace("|", "/")
    launch = " ".join(f"{name}={value}" for name, value in largest.failure.subject.tune.items())
    return (
        f"| `{kernel.name}` | {kind} | {count} | {statistics.median(trials):g} | {max(trials)} | {words}; {launch} | "
        f"{before} | {max(one.tried for one in small)} | {statistics.median(seconds):.1f} | {max(seconds):.1f} |"
    )


if __name__ == "__main__":
    main()
