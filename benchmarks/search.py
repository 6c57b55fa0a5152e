"""How fast the search is on the cpu, a core, and where the time goes: python benchmarks/search.py [SECONDS]

A campaign of one process over every correct kernel, after a short one that compiles them. Shares are of processor
and waiting time alike; what is not generation, device or oracle is bookkeeping.
"""

import sys

from fuzz.campaign import KernelResult, Options, run_campaign
from fuzz.devices.cpu import CpuDevice
from fuzz.kernel import KERNELS, discover

PARTS = ("generation", "device", "oracle")


def main() -> None:
    """Print a line for each kernel and one for all."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    kernels = [kernel for kernel in discover(KERNELS) if kernel.broken is None]
    run_campaign(kernels, CpuDevice, Options(seed=1, max_cases=4 * len(kernels)))
    result = run_campaign(kernels, CpuDevice, Options(seed=2, max_time=seconds))
    if result.news:
        sys.exit(f"a correct kernel is accused: {result.news[0].message}")
    print(f"{'kernel':30} {'trials':>7} {'trials/s':>9} {'rows/s':>9} {'elements/s':>11} " + _head())
    for one in sorted(result.kernels, key=lambda one: one.progress.trials / max(_spent(one), 1e-9)):
        print(_line(one.kernel.name, [one], _spent(one)))
    print(_line("all", list(result.kernels), result.seconds))


def _head() -> str:
    return " ".join(f"{part:>11}" for part in (*PARTS, "bookkeeping"))


def _spent(one: KernelResult) -> float:
    return sum(one.progress.seconds.values())


def _line(name: str, results: list[KernelResult], seconds: float) -> str:
    progress = [one.progress for one in results]
    shares = [sum(one.seconds.get(part, 0.0) for one in progress) / seconds for part in PARTS]
    rates = [
        sum(counted) / seconds for counted in zip(*((p.trials, p.rows, p.elements) for p in progress), strict=True)
    ]
    told = " ".join(f"{share:11.0%}" for share in (*shares, 1 - sum(shares)))
    return f"{name:30} {sum(p.trials for p in progress):7} {rates[0]:9.0f} {rates[1]:9.0f} {rates[2]:11.0f} {told}"


if __name__ == "__main__":
    main()
