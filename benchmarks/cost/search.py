"""The speed of the search on the cpu for one core, and where the time goes: python -m benchmarks.cost.search [SECONDS]

A campaign of one process over every correct kernel, after a short one that compiles them. Shares are of processor
and waiting time alike; all but generation, device and oracle is bookkeeping. If others use the machine, look at the
rate by processor time (of this process and its worker together).
"""

import resource
import sys
from collections.abc import Iterator, Sequence

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult
from kfuzz.claims.kernel import KERNELS, discover
from kfuzz.devices.cpu.device import CpuDevice

PARTS = ("generation", "device", "oracle")
AIM = 300
"""Trials per second on one core, over the mix of all correct kernels."""


def main() -> None:
    """Print a line for each kernel and one for all."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    kernels = [kernel for kernel in discover(KERNELS) if kernel.broken is None]
    run_campaign(kernels, CpuDevice, Options(seed=1, max_cases=4 * len(kernels)))
    before = _processor_seconds()
    result = run_campaign(kernels, CpuDevice, Options(seed=2, max_time=seconds))
    processor = _processor_seconds() - before
    if result.news:
        sys.exit(f"a correct kernel is accused: {result.news[0].headline.defect.message}")
    print(f"{'kernel':30} {'trials':>7} {'trials/s':>9} {'rows/s':>9} {'elements/s':>11} " + _head())
    for one in sorted(result.kernels, key=lambda one: one.progress.trials / max(_spent(one), 1e-9)):
        print(_line(one.kernel.name, [one], _spent(one)))
    print(_line("all", list(result.kernels), result.seconds))
    print("\n".join(_summary(result.kernels, result.seconds, processor)))


def _processor_seconds() -> float:
    """The processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _summary(results: Sequence[KernelResult], seconds: float, processor: float) -> Iterator[str]:
    """The rates beside the aims, and where the time of a trial goes."""
    trials = sum(one.progress.trials for one in results)
    yield f"{trials / seconds:.0f} trials/s, {trials / processor:.0f} by processor time (aim: {AIM})"
    parts = {part: sum(one.progress.seconds.get(part, 0.0) for one in results) for part in PARTS}
    costs = ", ".join(f"{part} {spent / trials * 1e3:.2f}" for part, spent in parts.items())
    yield f"a trial takes {seconds / trials * 1e3:.2f} ms (aim: {1e3 / AIM:.2f}): {costs}"
    slow = [one for one in results if _spent(one) * AIM > one.progress.trials]
    yield f"{len(slow)} of {len(results)} kernels take longer than that:"
    for one in sorted(slow, key=_spent, reverse=True):
        device = one.progress.seconds.get("device", 0.0) / one.progress.trials
        mine, share = _spent(one) / one.progress.trials, _spent(one) / seconds
        yield f"  {one.kernel.name:30} {mine * 1e3:6.2f} ms, device {device * 1e3:6.2f}; {share:4.0%} of all"


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
