"""Run `kfuzz fuzz DIR --cluster` on thousands of kernel files on a LocalCluster, killed in the middle and resumed.

    python -m benchmarks.cost.fleet --count 1000 --workers 16

The files are mutants of our kernels, as a model or a script would generate them: some do not compile, most are wrong.
The caller is killed with SIGKILL when half of the files have been tried; the same command then goes on, and its final
report is compared with that of a campaign that was not killed.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from kfuzz.campaign.state import STATE
from kfuzz.claims.kernel import KERNELS, discover
from kfuzz.measure.mutants.mutate import Mutant, mutants

SEED = "7"
RIGHT = [kernel for kernel in discover(KERNELS) if kernel.broken is None and not kernel.front.is_python]
LOOK_SECONDS = 0.2
OF_EACH = 40
LOCAL: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}


def generated(folder: Path, count: int) -> None:
    """Write so many mutants as files next to the headers of their kernels; some of each kernel, by all operators."""
    for header in KERNELS.rglob("*.cuh"):
        to = folder / header.relative_to(KERNELS)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(header, to)
    every = ((kernel, one) for kernel in RIGHT for one in _some(mutants(kernel)))
    for number, (kernel, mutant) in enumerate(islice(every, count)):
        room = folder / kernel.path.relative_to(KERNELS).parent
        room.mkdir(parents=True, exist_ok=True)
        (room / f"generated_{number:04}.cu").write_text(mutant.source, encoding="utf-8")


def _some(every: Sequence[Mutant]) -> Sequence[Mutant]:
    return every[:: max(1, len(every) // OF_EACH)][:OF_EACH]


def command(target: list[str], address: str, out: Path, *limits: str) -> list[str]:
    """The command that a person would type."""
    files = ["--out", str(out), "--corpus", str(out / "corpus"), "--json", str(out / "run.json")]
    place = ["--cluster", address, "--device", "cpu", "--seed", SEED]
    return [sys.executable, "-m", "kfuzz", "fuzz", *target, *place, *files, *limits]


def run(words: list[str]) -> float:
    """Run a command to its end; return its seconds."""
    began = time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def report(out: Path) -> dict[str, Any]:
    """The report of a campaign, by kernel, without times."""
    document = json.loads((out / "run.json").read_text())
    return {
        one["name"]: (one["trials"], one["error"], one["stopped"], [found["bucket"] for found in one["findings"]])
        for one in document["kernels"]
    }


def tried(out: Path) -> int:
    """The number of kernels in the state of a campaign that have a trial or were given up."""
    if not (out / STATE).exists():
        return 0
    kernels = json.loads((out / STATE).read_text())["kernels"]
    return sum(bool(one["trials"] or one["retired"]) for one in kernels.values())


def killed(words: list[str], out: Path, at: int) -> float:
    """Run a command until its state has so many kernels, and kill it with SIGKILL; return its seconds."""
    began = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and tried(out) < at:
            time.sleep(LOOK_SECONDS)  # another process writes the file, without notice
        os.kill(process.pid, signal.SIGKILL)
    return time.monotonic() - began


def files(count: int, workers: int, cases: int) -> None:
    """Run a campaign on generated files that is killed and resumed, and one that is not killed, and compare them."""
    with tempfile.TemporaryDirectory() as temporary, LocalCluster(n_workers=workers, **LOCAL) as cluster:
        folder = Path(temporary) / "generated"
        generated(folder, count)
        limits = ("--max-cases", str(cases * count))
        target, resumed, whole = [str(folder)], Path(temporary) / "resumed", Path(temporary) / "whole"
        first = killed(command(target, cluster.scheduler_address, resumed, *limits), resumed, count // 2)
        halfway = tried(resumed)
        then = run(command(target, cluster.scheduler_address, resumed, *limits))
        table = report(resumed)
        broken = sum(bool(found) for *_, found in table.values())
        unusable = sum(bool(error) for _, error, *_ in table.values())
        print(f"{len(table)} of {count} files in the table: {broken} broken, {unusable} that do not compile")
        told = f"killed after {halfway} files and {first:.0f} s, went on for {then:.0f} s on {workers} processes"
        print(told, flush=True)
        run(command(target, cluster.scheduler_address, whole, *limits))
        other = report(whole)
        print("the same as of a campaign that was not killed" if table == other else "NOT the same as of one unkilled:")
        for name in sorted(one for one in table if table[one] != other.get(one)):
            print(f"  {name}: {table[name]}, unkilled {other.get(name)}")
        sys.exit(len(table) != count or table != other)


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--cases", type=int, default=1, help="Cases of each file.")
    asked = parser.parse_args()
    files(asked.count, asked.workers, asked.cases)


if __name__ == "__main__":
    main()
