"""Run correct kernels in trials that check each access: `python -m benchmarks.detection.checked [TRIALS] [--jobs 16]`.

A campaign checks every sixth trial; this script runs those trials of a campaign that is six times as long, for every
correct kernel. It prints its progress, the accused kernels, and the sum. Exit code 1 if a kernel is accused.
"""

import argparse
import atexit
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache

from kfuzz.campaign.schedule import attempt_of, is_check, probe_of, quotas
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.devices.cpu.device import CpuDevice

AT_ONCE = 32
RUNS, TIMEOUT = 3, 5.0
"""As of a campaign's trial."""
TOLD_EVERY = 10.0


@dataclass(frozen=True)
class Part:
    """The results of some trials of a kernel."""

    trials: int
    rows: int
    elements: int
    warnings: int
    accusations: tuple[str, ...]


def main() -> int:
    """Run all trials, or as many as time allows, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trials", nargs="?", type=int, default=200_000)
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=1e9, help="so long, and then what was run till then")
    parser.add_argument("--only", default="", help="kernels whose names begin so")
    chosen = parser.parse_args()
    kernels = [one for one in discover() if one.broken is None and one.name.startswith(chosen.only)]
    began = told = time.monotonic()
    total, accused = Counter[str](), list[str]()
    for part in parts(kernels, chosen.trials, chosen.seed, chosen.jobs, began + chosen.seconds):
        total.update(trials=part.trials, rows=part.rows, elements=part.elements, warnings=part.warnings)
        accused += part.accusations
        for one in part.accusations:
            print(f"ACCUSED  {one}", flush=True)
        if time.monotonic() - told >= TOLD_EVERY:
            told = time.monotonic()
            print(f"{told - began:.0f} s: {total['trials']} trials, {len(accused)} accusations", flush=True)
    print(
        f"{total['trials']} checked trials of {len(kernels)} kernels, {total['rows']} rows, {total['elements']} "
        f"elements judged, {total['warnings']} warnings, {len(accused)} findings, "
        f"in {time.monotonic() - began:.0f} s with {chosen.jobs} processes"
    )
    return 1 if accused else 0


@cache
def device() -> CpuDevice:
    """The device of this process, closed with it."""
    opened = CpuDevice()
    atexit.register(opened.close)
    return opened


def parts(kernels: list[Kernel], trials: int, seed: int, jobs: int, ends: float) -> Iterator[Part]:
    """So many trials, a few of each kernel in turn, until the time is up."""
    given = quotas(len(kernels), trials)
    work = (
        (kernel, seed, first, min(first + AT_ONCE, most or 0))
        for first in range(0, trials, AT_ONCE)
        for kernel, most in zip(kernels, given, strict=True)
        if first < (most or 0)
    )
    with ProcessPoolExecutor(jobs) as pool:
        running: set[Future[Part]] = set()
        while True:
            room = 2 * jobs - len(running) if time.monotonic() < ends else 0
            running |= {pool.submit(part_of, *one) for one in itertools.islice(work, room)}
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)


def part_of(kernel: Kernel, seed: int, first: int, last: int) -> Part:
    """The checked trials first .. last - 1 of a kernel, by the campaign of this seed."""
    tried = rows = elements = warnings = 0
    accusations = []
    for index in itertools.islice(filter(is_check, itertools.count()), first, last):
        attempt, probe = attempt_of(kernel, seed, index), probe_of(kernel, seed, index, RUNS, TIMEOUT)
        trial = run_trial(kernel, attempt.case, attempt.tune, device(), probe)
        tried, rows, elements = tried + 1, rows + trial.rows, elements + trial.elements
        warnings += len(trial.defects) - len(trial.errors)
        accusations += [f"{kernel.name}, trial {index}: {one.bucket}: {one.message}" for one in trial.errors]
    return Part(tried, rows, elements, warnings, tuple(accusations))


if __name__ == "__main__":
    sys.exit(main())
