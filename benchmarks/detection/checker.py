"""Count the bugs of the planted programs that the checker finds.

    python -m benchmarks.detection measure checker [--threads 64,256] [--seeds 3]

Every program is run without its bug and with it. Found: an error of the kind that its file names; by a warning: only a
warning of that kind; accused: any finding in a program without a bug, except that its atomics come in any order.
tools.py runs the same programs under compute-sanitizer.
"""

import argparse
import hashlib
import itertools
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue

from benchmarks.detection.labelled import TOLD_AS, planted_programs
from benchmarks.measurement import Figures, Record
from kfuzz.devices import ClaimError, Device, DeviceError, Probe
from kfuzz.devices.cpu.device import CpuDevice

Program = planted_programs.Program
VERDICTS = ("found", "warned", "missed", "silent", "accused", "not run")
Counts = dict[str, Counter[str]]


def measure(arguments: Sequence[str]) -> Figures:
    """Run all of them, and print each unexpected result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", default="64,128,256,512,1024")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="so many side by side")
    chosen = parser.parse_args(arguments)
    sizes = [int(one) for one in chosen.threads.split(",")]
    asked = [Asked(*one) for one in itertools.product(sizes, mixed(planted_programs.NAMES), range(chosen.seeds))]
    by_class, by_size = (defaultdict[str, Counter[str]](Counter) for _ in range(2))
    for one, verdict, seconds in every(asked, chosen.jobs):
        for counts in (by_class[planted_programs.program(one.name).group], by_size[f"{one.threads} threads"]):
            counts[verdict] += 1
            counts["milliseconds"] += round(1000 * seconds)
    numbers = {"pairs": len(planted_programs.NAMES), "seeds": chosen.seeds}
    return Figures(numbers, {"classes": list(records_of(by_class)), "blocks": list(records_of(by_size))})


@dataclass(frozen=True)
class Asked:
    """A pair of programs, and how to run it."""

    threads: int
    name: str
    seed: int


def mixed(names: tuple[str, ...]) -> list[str]:
    """The names in an order that mixes the classes from the start."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def every(asked: list[Asked], jobs: int) -> Iterator[tuple[Asked, str, float]]:
    """Each program without its bug and with it, its verdict, and its seconds."""
    devices, free = [CpuDevice() for _ in range(jobs)], SimpleQueue[CpuDevice]()
    for one in devices:
        free.put(one)

    def pair(one: Asked) -> list[tuple[Asked, str, float]]:
        device = free.get()
        try:
            return [timed(device, one, has_bug) for has_bug in (False, True)]
        finally:
            free.put(device)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            for told in pool.map(pair, asked):
                yield from told
    finally:
        for one in devices:
            one.close()


def timed(device: Device, asked: Asked, has_bug: bool) -> tuple[Asked, str, float]:
    """The verdict on one program of a pair; an unexpected one is printed at once."""
    began = time.perf_counter()
    verdict = judged(device, planted_programs.program(asked.name), has_bug, asked.threads, asked.seed)
    if verdict not in ("found", "silent"):
        print(f"{verdict}: {asked.name}, {asked.threads} threads, seed {asked.seed}", file=sys.stderr, flush=True)
    return asked, verdict, time.perf_counter() - began


def judged(device: Device, one: Program, has_bug: bool, threads: int, seed: int) -> str:
    """The verdict: found, warned or missed; accused or silent; or not run."""
    timeout = 1.0 if has_bug and one.finds == "hang" else 20.0
    try:
        outcome = device.run(
            planted_programs.job(one, has_bug, threads, seed), Probe(check=True, runs=3, seed=seed, timeout=timeout)
        )
    except (ClaimError, DeviceError) as error:
        print(f"{one.path.stem}: {str(error).splitlines()[0]}", file=sys.stderr)
        return "not run"
    told = [found for found in outcome.findings if found.kind != "nondeterministic"]
    if not has_bug:
        return "accused" if told else "silent"
    kinds = next(kinds for kinds in TOLD_AS.values() if one.finds in kinds)
    if any(found.kind in kinds and found.severity == "error" for found in told):
        return "found"
    return "warned" if any(found.kind in kinds for found in told) else "missed"


def records_of(rows: Counts) -> Iterator[Record]:
    """The counts of each class or size."""
    for name, counts in rows.items():
        found, warned, missed, silent, accused, lost = (counts[one] for one in VERDICTS)
        yield {
            "name": name, "wrong": found + warned + missed, "found": found, "warned": warned, "missed": missed,
            "right": silent + accused, "accused": accused, "not_run": lost, "seconds": counts["milliseconds"] / 1000,
        }  # fmt: skip
