"""How much the checker finds of the planted programs: `python -m benchmarks.checker [--threads 64,256] [--seeds 3]`.

Every program is run without its bug and with it. Found: an error of the kind that its file names; by a warning: only
that; accused: a program without a bug of which anything is told but that its atomics come in any order. `--device gpu`
runs the same programs on a card under the four tools of compute-sanitizer, for the table beside it.
"""

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from benchmarks.labelled import TOLD_AS, planted_programs
from kfuzz.devices import ClaimError, Device, DeviceError, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice

Program = planted_programs.Program
VERDICTS = ("found", "warned", "missed", "silent", "accused", "not run")
DEVICES: dict[str, Callable[[], Device]] = {"cpu": CpuDevice, "gpu": lambda: GpuDevice(sanitize=True)}
Counts = dict[str, Counter[str]]


def main() -> None:
    """Run all of them; print each program that went wrong, then a table of classes and one of sizes of blocks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", default="64,128,256,512,1024")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", choices=DEVICES, default="cpu")
    chosen = parser.parse_args()
    device = DEVICES[chosen.device]()
    by_class, by_size = (defaultdict[str, Counter[str]](Counter) for _ in range(2))
    try:
        for threads in map(int, chosen.threads.split(",")):
            for one, verdict, seconds in every(device, threads, chosen.seeds):
                for counts in (by_class[one.group], by_size[f"{threads} threads"]):
                    counts[verdict] += 1
                    counts["milliseconds"] += round(1000 * seconds)
    finally:
        device.close()
    print("\n".join([*table("class", by_class), "", *table("block", by_size)]))


def every(device: Device, threads: int, seeds: int) -> Iterator[tuple[Program, str, float]]:
    """Each program without its bug and with it, what comes of it, and how long that takes."""
    for name in planted_programs.NAMES:
        for seed in range(seeds):
            for has_bug in (False, True):
                one, began = planted_programs.program(name), time.perf_counter()
                verdict = judged(device, one, has_bug, threads, seed)
                if verdict not in ("found", "silent"):
                    print(f"{verdict}: {name}, {threads} threads, seed {seed}", flush=True)
                yield one, verdict, time.perf_counter() - began


def judged(device: Device, one: Program, has_bug: bool, threads: int, seed: int) -> str:
    """found, warned, missed; accused or silent; or that it could not be run."""
    timeout = 1.0 if has_bug and one.finds == "hang" else 20.0
    try:
        outcome = device.run(
            planted_programs.job(one, has_bug, threads, seed), Probe(check=True, runs=3, seed=seed, timeout=timeout)
        )
    except (ClaimError, DeviceError) as error:
        print(f"{one.path.stem}: {str(error).splitlines()[0]}")
        return "not run"
    told = [found for found in outcome.findings if found.kind != "nondeterministic"]
    if not has_bug:
        return "accused" if told else "silent"
    kinds = next(kinds for kinds in TOLD_AS.values() if one.finds in kinds)
    if any(found.kind in kinds and found.severity == "error" for found in told):
        return "found"
    return "warned" if any(found.kind in kinds for found in told) else "missed"


def table(title: str, rows: Counts) -> Iterator[str]:
    """Rows in the words of Markdown, with their sum."""
    yield f"| {title} | with a bug | by an error | by a warning | missed | without one | accused | not run | seconds |"
    yield "|---" * 9 + "|"
    total = Counter[str]()
    for name, counts in rows.items():
        total.update(counts)
        yield row(name, counts)
    yield row("**all**", total)


def row(name: str, counts: Counter[str]) -> str:
    found, warned, missed, silent, accused, lost = (counts[one] for one in VERDICTS)
    numbers = (found + warned + missed, found, warned, missed, silent + accused, accused, lost)
    return f"| {name} | {' | '.join(map(str, numbers))} | {counts['milliseconds'] / 1000:.0f} |"


if __name__ == "__main__":
    main()
