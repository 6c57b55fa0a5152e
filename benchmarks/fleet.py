"""Thousands of kernel files through `kfuzz fuzz DIR --cluster` on a LocalCluster, and how that scales.

    python -m benchmarks.fleet files --count 1000 --workers 16     a folder of mutants, killed in the middle, resumed
    python -m benchmarks.fleet scaling --workers 1,2,4             trials a second by the number of processes
    python -m benchmarks.fleet cards --workers 1,2,4 --each 14     the same by the number of cards of this machine

The files are mutants of our kernels, as a model or a script would generate them: some do not compile, most are wrong.
The caller is killed with SIGKILL when half of the files have been tried; the same command goes on, and what it says in
the end is compared with a campaign that nobody killed.

Trials a second are counted when all are at work and everything is compiled. A card has several processes, which share
it: each plans and judges for itself, and a process does that at its own core's speed. So a card has its share of the
cores, too: one of two runs on half of them.
"""

import argparse
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from distributed import LocalCluster, Nanny, Scheduler, SpecCluster

from kfuzz.campaign.campaign import run_lanes
from kfuzz.campaign.cluster import connect, spread
from kfuzz.campaign.events import Event, Tried
from kfuzz.campaign.options import Options
from kfuzz.campaign.state import STATE
from kfuzz.claims.kernel import KERNELS, discover
from kfuzz.find.device import lane_of
from kfuzz.mutating.mutate import Mutant, mutants
from kfuzz.one_thread import NAMES

SEED = "7"
RIGHT = [kernel for kernel in discover(KERNELS) if kernel.broken is None and not kernel.front.is_python]
KERNELS_OF_RATE = RIGHT[::3]
WARM = 30
"""Trials of each kernel before the count begins: until then devices open, and kernels compile."""
MOST_SECONDS = 120.0
LOOK_SECONDS = 0.2
OF_EACH = 40
ONE_THREAD = dict.fromkeys(NAMES, "1")
LOCAL: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}


def generated(folder: Path, count: int) -> None:
    """So many kernel files, each a mutant, beside the headers of its kernel; of a kernel some, of all operators."""
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
    """What a person would type."""
    files = ["--out", str(out), "--corpus", str(out / "corpus"), "--json", str(out / "run.json")]
    place = ["--cluster", address, "--device", "cpu", "--seed", SEED]
    return [sys.executable, "-m", "kfuzz", "fuzz", *target, *place, *files, *limits]


def run(words: list[str]) -> float:
    """Run a command to its end; how many seconds it took."""
    began = time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def report(out: Path) -> dict[str, Any]:
    """The report of a campaign, by kernel, without what a clock says."""
    document = json.loads((out / "run.json").read_text())
    return {
        one["name"]: (one["trials"], one["error"], one["stopped"], [found["bucket"] for found in one["findings"]])
        for one in document["kernels"]
    }


def tried(out: Path) -> int:
    """How many kernels the state of a campaign has a trial of, or gave up."""
    if not (out / STATE).exists():
        return 0
    kernels = json.loads((out / STATE).read_text())["kernels"]
    return sum(bool(one["trials"] or one["retired"]) for one in kernels.values())


def killed(words: list[str], out: Path, at: int) -> float:
    """Run a command until its state has so many kernels, and kill it as nobody can help; seconds that it had."""
    began = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and tried(out) < at:
            time.sleep(LOOK_SECONDS)  # another process writes the file, and tells nobody
        os.kill(process.pid, signal.SIGKILL)
    return time.monotonic() - began


def files(count: int, workers: int, cases: int) -> None:
    """A folder of generated files, killed in the middle, resumed, and beside it one that nobody killed."""
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
        print("the same as of a campaign that nobody killed" if table == other else "NOT the same as of one unkilled")
        sys.exit(len(table) != count or table != other)


def scaling(workers: list[int], seconds: float) -> None:
    """Trials a second of the same kernels, by the number of processes."""
    by_number(workers, "processes", seconds, lambda count: LocalCluster(n_workers=count, **LOCAL), "cpu")


def cards(counts: list[int], each: int, seconds: float, device: str) -> None:
    """Trials a second on the gpu, by the number of cards; so many processes and as many cores for each."""
    cores = sorted(os.sched_getaffinity(0))
    of_a_card = len(cores) // max(counts)
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")  # of each process, else: forty lines as it starts

    def cluster(count: int) -> SpecCluster:
        os.sched_setaffinity(0, cores[: count * of_a_card])  # of whatever is started from here, too
        options = {"nthreads": 1, "resources": {"GPU": 1}}
        workers = {
            f"card {card}, {number}": {
                "cls": Nanny,
                "options": {**options, "env": {"CUDA_VISIBLE_DEVICES": str(card), **ONE_THREAD}},
            }
            for card in range(count)
            for number in range(each)
        }
        scheduler = {"cls": Scheduler, "options": {"dashboard": False}}
        return SpecCluster(workers=workers, scheduler=scheduler, silence_logs=logging.CRITICAL)

    by_number(counts, "cards", seconds, cluster, device)


def by_number(counts: list[int], of: str, seconds: float, made: Callable[[int], SpecCluster], device: str) -> None:
    """Print the rate for each number of something; the largest goes first, and compiles."""
    rates: dict[int, float] = {}
    for count in (counts[-1], *counts):
        with made(count) as cluster:
            cluster.wait_for_workers(len(cluster.worker_spec))
            rates[count] = rate(cluster.scheduler_address, device, seconds)
        print(f"{count} {of}: {rates[count]:.0f} trials/s", flush=True)
    for count in counts:
        print(f"{count} {of}: {rates[count]:.0f} trials/s, {rates[count] / rates[counts[0]]:.2f} x", flush=True)


def rate(address: str, device: str, seconds: float) -> float:
    """Trials a second of a campaign, from when every kernel has had some until so many seconds later."""
    moments: list[float] = []

    def listen(event: Event) -> None:
        if isinstance(event, Tried) and event.total >= WARM * len(KERNELS_OF_RATE):
            moments.append(time.monotonic())
            if moments[-1] > moments[0] + seconds:
                raise KeyboardInterrupt  # as a person ends it

    with connect(address) as cluster:
        options = Options(seed=int(SEED), max_time=MOST_SECONDS)
        run_lanes(KERNELS_OF_RATE, [lane_of(device, 1)], options, listen, partial(spread, cluster))
    return len(moments) / (moments[-1] - moments[0]) if len(moments) > 1 else 0.0


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("files", "scaling", "cards"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--cases", type=int, default=1, help="Cases of each file.")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--each", type=int, default=14, help="Processes for each card.")
    parser.add_argument("--device", default="gpu", help="Of cards; cpu tries the same without one.")
    asked = parser.parse_args()
    workers = list(map(int, asked.workers.split(",")))
    if asked.what == "files":
        files(asked.count, workers[-1], asked.cases)
    elif asked.what == "scaling":
        scaling(workers, asked.seconds)
    else:
        cards(workers, asked.each, asked.seconds, asked.device)


if __name__ == "__main__":
    main()
