"""A Dask cluster as somebody would start it by hand, for tests: a scheduler, and workers that come and go."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from paths import ROOT

LOCAL = ("--host", "127.0.0.1", "--no-dashboard")


@dataclass
class TestCluster:
    """A scheduler of this machine and its workers, each a process of one thread."""

    __test__ = False  # no test, whatever pytest makes of the name

    folder: Path
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return str(json.loads((self.folder / "scheduler.json").read_text())["address"])

    def add(self, *options: str) -> None:
        """Start one more worker; it need not have come when this returns."""
        self.workers.append(dask(self.folder, "worker", self.address, "--nthreads", "1", "--no-nanny", *options))

    def lose(self) -> None:
        """Kill the worker that has been there longest, and start another."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()
        self.add()


@contextmanager
def cluster_of(folder: Path, workers: int, *options: str) -> Iterator[TestCluster]:
    """A cluster that ends with the test."""
    folder.mkdir(parents=True, exist_ok=True)
    started = dask(folder, "scheduler", "--port", "0", "--scheduler-file", str(folder / "scheduler.json"))
    made = TestCluster(folder, started)
    try:
        while not is_whole(folder / "scheduler.json"):
            with suppress(subprocess.TimeoutExpired):  # look again soon, and leave the processor to the scheduler
                started.wait(0.01)
            assert started.returncode is None, "the scheduler has ended"
        for _ in range(workers):
            made.add(*options)
        yield made
    finally:
        for process in (*made.workers, started):
            process.kill()
            process.wait()


def is_whole(path: Path) -> bool:
    """Whether the scheduler has written its file, to the end."""
    return path.exists() and path.read_text().rstrip().endswith("}")


def dask(folder: Path, what: str, *arguments: str) -> subprocess.Popen[bytes]:
    with (folder / f"{what}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", what, *LOCAL, *arguments], cwd=folder, stdout=log, stderr=log
        )


def fuzzing(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """`kfuzz fuzz` in a folder of its own."""
    command = [sys.executable, "-m", "kfuzz", "fuzz", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
