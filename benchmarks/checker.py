"""How much the checker finds of the planted programs: `python -m benchmarks.checker [--threads 64,256] [--seeds 3]`.

Every program is run without its bug and with it. Found: an error of the kind that its file names; by a warning: only
that; accused: a program without a bug of which anything is told but that its atomics come in any order.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from planted_programs import NAMES, Program, job, program


def main() -> None:
    """Run all of them, and print one line for each size of block and one for each program that went wrong."""
    parser = argparse.ArgumentParser(description="how much the checker finds of the planted programs")
    parser.add_argument("--threads", default="64,128,256,512,1024")
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    with CpuDevice() as device:
        for threads in map(int, chosen.threads.split(",")):
            print(of_block_size(device, threads, chosen.seeds), flush=True)


def of_block_size(device: CpuDevice, threads: int, seeds: int) -> str:
    """What was found and accused at one size of block."""
    began, counts = time.perf_counter(), Counter[str]()
    for name in NAMES:
        for seed in range(seeds):
            for has_bug in (False, True):
                verdict = judged(device, program(name), has_bug, threads, seed)
                counts[verdict] += 1
                if verdict not in ("found", "silent"):
                    print(f"  {verdict}: {name}, {threads} threads, seed {seed}", flush=True)
    programs = len(NAMES) * seeds
    return (
        f"{threads:5} threads: {counts['found']} of {programs} found by an error, {counts['warned']} by a warning, "
        f"{counts['missed']} missed; {counts['accused']} of {programs} accused; {time.perf_counter() - began:.0f} s"
    )


def judged(device: CpuDevice, one: Program, has_bug: bool, threads: int, seed: int) -> str:
    """found, warned, missed; accused or silent."""
    timeout = 1.0 if has_bug and one.finds == "hang" else 20.0
    outcome = device.run(job(one, has_bug, threads, seed), Probe(check=True, runs=3, seed=seed, timeout=timeout))
    told = [found for found in outcome.findings if found.kind != "nondeterministic"]
    if not has_bug:
        return "accused" if told else "silent"
    if any(found.kind == one.finds and found.severity == "error" for found in told):
        return "found"
    return "warned" if any(found.kind == one.finds for found in told) else "missed"


if __name__ == "__main__":
    main()
