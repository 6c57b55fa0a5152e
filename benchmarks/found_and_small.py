"""Every kernel of kernels/broken: how soon its defect is found, and how small the case is made that shows it.

    python benchmarks/found_and_small.py [--seeds 10] [--trials 300] [KERNEL...]

For each seed the trials of a campaign are run until one shows the kind of defect that the kernel says it has; that
very case, not a smaller one found later, is then minimized. Prints a table in Markdown.
"""

import argparse
import statistics
import time
from contextlib import closing
from datetime import date
from platform import machine, python_version

from benchmarks.hunt import Quarry, hunt
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.find.device import open_device
from kfuzz.minimizing.minimize import Minimized, minimize

TITLES = ("kernel", "kind", "found in", "trials: median", "worst", "largest minimized case", "before, elements",
          "tried", "seconds: median", "worst")  # fmt: skip
HEAD = f"| {' | '.join(TITLES)} |\n{'|---' * len(TITLES)}|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    kernels = [kernel for kernel in discover() if kernel.broken]
    chosen = [kernel for kernel in kernels if not asked.kernels or kernel.name.split("/")[1] in asked.kernels]
    print(
        f"# Found and small\n\n{__doc__}\n{date.today()}, Python {python_version()}, {machine()}\n\n{HEAD}", flush=True
    )
    began, every = time.monotonic(), []
    with closing(open_device(asked.device)) as device:
        for kernel in chosen:
            assert kernel.broken
            kind, severity = kernel.broken.kind, kernel.broken.severity
            quarries = [hunt(kernel, kind, seed, device, asked.trials, severity) for seed in range(asked.seeds)]
            found = [quarry for quarry in quarries if quarry]
            every += [quarry.trials for quarry in found]
            print(line(kernel, kind, found, [minimize(one.failure, device) for one in found], asked.seeds), flush=True)
    print(f"\n{len(every)} of {len(chosen) * asked.seeds} found; trials: median {statistics.median(every):g}, "
          f"worst {max(every)}; device {asked.device}, {time.monotonic() - began:.0f} s in all")  # fmt: skip


def line(kernel: Kernel, kind: str, found: list[Quarry], small: list[Minimized], seeds: int) -> str:
    """One line of the table."""
    count = f"{len(found)} of {seeds} seeds"
    if not found:
        return f"| `{kernel.name}` | {kind} | {count} | | | | | | | |"
    trials = [quarry.trials for quarry in found]
    largest = max(small, key=lambda one: one.failure.subject.weight)
    seconds = [one.seconds for one in small]
    before = max(quarry.failure.subject.case.elements for quarry in found)
    words = str(largest.failure.subject.case).replace("|", "/")
    launch = " ".join(f"{name}={value}" for name, value in largest.failure.subject.tune.items())
    return (
        f"| `{kernel.name}` | {kind} | {count} | {statistics.median(trials):g} | {max(trials)} | {words}; {launch} | "
        f"{before} | {max(one.tried for one in small)} | {statistics.median(seconds):.1f} | {max(seconds):.1f} |"
    )


if __name__ == "__main__":
    main()
