"""Trials per second of a campaign on a cluster of this machine, by the number of its processes or GPUs.

    python -m benchmarks.cost.cluster_speed processes --workers 1,2,4
    python -m benchmarks.cost.cluster_speed cards --workers 1,2,4 --each 16

They are counted in the middle of a campaign, between the 320th trial of each kernel and its last (--trials): while all
processes work, after the large cases and before those of compute-sanitizer. Several processes share a GPU; each plans
and judges for itself, at the speed of its own core. So a GPU has its share of the cores, too: one of two GPUs uses half
of them. Cores that share memory and clock are slower when all are busy, for whatever reason; therefore `cards` also
prints how many cases the same cores plan by themselves, without a GPU, a cluster or a caller.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from distributed import Client

from benchmarks.cost.fleet import RIGHT, SEED
from kfuzz.campaign.blocks import TrialEnd
from kfuzz.campaign.campaign import run_lanes
from kfuzz.campaign.children import Work
from kfuzz.campaign.cluster import GPU, Cluster, connect, run_errand, spread
from kfuzz.campaign.device import lane_of
from kfuzz.campaign.errand import Errand
from kfuzz.campaign.options import Options
from kfuzz.campaign.schedule import attempt_of
from kfuzz.devices import Device
from kfuzz.devices.worker.numpy_threads import NAMES

FIRST, WARM = 2, 320
"""Trials of each kernel that every process runs before the count begins: by then a process has a device and kernels,
and all large cases but one are done."""
MORE = 62
"""Trials after the count ends, so that no process is idle during the count."""
START_SECONDS, PLAN_SECONDS = 15.0, 10.0
"""The seconds after which all processes have started, and the seconds for which they plan."""
ONE_THREAD = dict.fromkeys(NAMES, "1")


def processes(counts: list[int], trials: int) -> None:
    """Print the trials per second of the same kernels, by the number of processes."""
    by_number(counts, "processes", trials, lambda count: operated([Workers(count)]), "cpu")


def cards(counts: list[int], each: int, trials: int, device: str) -> None:
    """Print the trials per second on the gpu, by the number of GPUs, with `each` processes and cores for each GPU."""
    cores = sorted(os.sched_getaffinity(0), key=lambda core: (siblings(core), core))
    of_a_card = len(cores) // max(counts)
    shares = [tuple(cores[card * of_a_card :][:of_a_card]) for card in range(max(counts))]

    def some(count: int) -> AbstractContextManager[str]:
        os.sched_setaffinity(0, cores[: count * of_a_card])  # the scheduler's, too
        return operated([Workers(each, ("--resources", "GPU=1"), str(card), shares[card]) for card in range(count)])

    by_number(counts, "cards", trials, some, device)
    alone = {count: planned(cores[: count * of_a_card]) for count in counts}
    for count in counts:
        gain = alone[count] / alone[counts[0]]
        print(f"{count * of_a_card} cores by themselves: {alone[count]:.0f} cases/s, {gain:.2f} x", flush=True)


def planned(cores: Sequence[int]) -> float:
    """Cases per second that these cores plan, each by itself."""
    began = time.monotonic() + START_SECONDS
    with get_context("spawn").Pool(len(cores)) as pool:
        return sum(pool.map(partial(_planned, began), cores, chunksize=1)) / PLAN_SECONDS


def _planned(began: float, core: int) -> int:
    """The part of one core, with trials that are neither small nor large."""
    os.sched_setaffinity(0, {core})
    done = 0
    turns = ((index, kernel) for index in cycle(range(WARM, 3 * WARM)) for kernel in RIGHT)
    while time.monotonic() < began + PLAN_SECONDS:
        index, kernel = next(turns)
        attempt_of(kernel, int(SEED), index)
        done += time.monotonic() > began
    return done


def siblings(core: int) -> int:
    """The first thread of this physical core; two GPUs must not share a physical core."""
    told = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text()
    return int(re.split("[,-]", told)[0])


@dataclass(frozen=True)
class Workers:
    """Some processes of a cluster: their number, the options for a resource that they declare, the GPU that they see,
    and their cores if they do not have all.
    """

    count: int
    resource: tuple[str, ...] = ()
    card: str = ""
    cores: tuple[int, ...] = ()


@contextmanager
def operated(every: Sequence[Workers]) -> Iterator[str]:
    """A scheduler and its workers, started as an operator of a cluster starts them; yields the scheduler's address."""
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        file = Path(temporary) / "scheduler.json"

        def start(env: dict[str, str], cores: tuple[int, ...], *words: str) -> None:
            held = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
            command = [*held, sys.executable, "-m", "dask", *words, "--scheduler-file", str(file), "--no-dashboard"]
            quiet = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "critical", **env}
            process = subprocess.Popen(command, env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)

        start({}, (), "scheduler", "--port", "0", "--host", "127.0.0.1")
        for some in every:
            env = {"CUDA_VISIBLE_DEVICES": some.card, **ONE_THREAD}
            start(env, some.cores, "worker", "--nworkers", str(some.count), "--nthreads", "1", *some.resource)
        with Client(scheduler_file=str(file), set_as_default=False) as client:  # it waits for the file
            client.wait_for_workers(sum(some.count for some in every))
            address = client.scheduler.address
        yield address


def by_number(
    counts: list[int], of: str, trials: int, some: Callable[[int], AbstractContextManager[str]], device: str
) -> None:
    """Print the rate for each number of something; the largest goes first, and compiles."""
    rates: dict[int, float] = {}
    for count in (counts[-1], *counts):
        with some(count) as address:
            rates[count] = rate(address, device, trials)
        print(f"{count} {of}: {rates[count]:.0f} trials/s", flush=True)
    for count in counts:
        print(f"{count} {of}: {rates[count]:.0f} trials/s, {rates[count] / rates[counts[0]]:.2f} x", flush=True)


def rate(address: str, device: str, trials: int) -> float:
    """Trials per second of a campaign, counted between two numbers of trials of each kernel."""
    with connect(address) as cluster, tempfile.TemporaryDirectory() as temporary:
        for each, how in ((FIRST, everywhere), (trials + MORE, partial(noting, Path(temporary)))):
            options = Options(seed=int(SEED), max_cases=each * len(RIGHT))
            run_lanes(RIGHT, [lane_of(device, 1)], options, lambda _: None, partial(how, cluster))
        lines = [line.split() for path in Path(temporary).iterdir() for line in path.read_text().splitlines()]
    done, moments = 0, list[tuple[float, int]]()
    for moment, count in sorted((float(moment), int(count)) for moment, count in lines):
        done += count
        if WARM * len(RIGHT) <= done <= trials * len(RIGHT):
            moments.append((moment, done))
    (began, first), (ended, last) = moments[0], moments[-1]
    return (last - first) / (ended - began)


def noting(
    folder: Path, cluster: Cluster, streams: Sequence[Iterator[Errand | None]], until: float | None
) -> Generator[tuple[int, Sequence[Any]], None, None]:
    """Run errands as usual; each worker notes its completed trials with the time, since results arrive in order."""
    return spread(cluster, [(one and replace(one, work=partial(noted, one.work, folder)) for one in stream)
                            for stream in streams], until)  # fmt: skip


def noted(work: Work[Any, Any], folder: Path, device: Device, task: object) -> list[Any]:
    """The work of a worker."""
    ends = list(work(device, task))
    with (folder / str(os.getpid())).open("a") as file:
        file.write(f"{time.monotonic()} {sum(isinstance(end, TrialEnd) for end in ends)}\n")
    return ends


def everywhere(
    cluster: Cluster, streams: Sequence[Iterator[Errand | None]], _: float | None
) -> Generator[tuple[int, Sequence[Any]], None, None]:
    """Run each errand on every worker, so that each opens its device and loads the kernels."""
    client = cluster.client
    workers = list(client.nthreads())
    for number, stream in enumerate(streams):
        for errand in filter(None, stream):
            given = {"pure": False, "resources": {GPU: 1} if errand.device == "gpu" else None}
            for found in client.gather([client.submit(run_errand, errand, workers=[one], **given) for one in workers])[
                :1
            ]:
                yield number, found


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("processes", "cards"))
    parser.add_argument("--workers", default="1,2,4", help="How many of them, one after the other.")
    parser.add_argument("--trials", type=int, default=900, help="Of each kernel, until which they are counted.")
    parser.add_argument("--each", type=int, default=16, help="Processes for each card.")
    parser.add_argument("--device", default="gpu", help="Of cards; cpu tries the same without one.")
    asked = parser.parse_args()
    counts = list(map(int, asked.workers.split(",")))
    if asked.what == "processes":
        processes(counts, asked.trials)
    else:
        cards(counts, asked.each, asked.trials, asked.device)


if __name__ == "__main__":
    main()
