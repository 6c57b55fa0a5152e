"""Runs errands on an existing Dask cluster, of which you give the address of its scheduler.

If a worker is lost, another one repeats its errand. This is the only file that imports Dask.
"""

import asyncio
import logging
import pickle
import re
import threading
import time
import uuid
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import Future as Coming
from dataclasses import dataclass
from math import inf
from typing import Any

from distributed import Client, Future, KilledWorker, get_worker

from kfuzz.campaign.errand import Errand, check_errand
from kfuzz.devices import Device, DeviceError

CONNECT_SECONDS = 10.0
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://.+:\d+")
AHEAD = 3
"""Errands submitted for each thread of the cluster: one that it runs, one that comes next, and one more since Dask does
not distribute them evenly."""
MOST_WAITING = 16
"""Errands for each thread between the one whose turn it is and the last one submitted: as far ahead as the processes
of one machine go (crew.WINDOW)."""
LOOK_SECONDS = 0.2
MOST_LOSSES = 10
"""How often one errand may be lost with its worker; after that kfuzz blames the errand."""
LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""Dask gives the second one a level of its own; the third one reports what a signal has interrupted."""
GPU = "GPU"
"""The resource that a worker with a GPU declares: `dask worker ... --resources GPU=1`."""


@dataclass(frozen=True)
class Cluster:
    """A connection to a scheduler. Workers may come and go while it is used."""

    client: Client
    address: str

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    @property
    def threads(self) -> int:
        """How many errands it can run at once, as of now."""
        return sum(self.client.nthreads().values())

    @property
    def has_gpu(self) -> bool:
        """Whether a worker declares a GPU."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return any(worker["resources"].get(GPU, 0) for worker in workers.values())


def connect(address: str) -> Cluster:
    """The cluster of this scheduler; a DeviceError if no scheduler answers."""
    if not ADDRESS.fullmatch(address):
        raise DeviceError(f"--cluster {address}: not the address of a scheduler; write tcp://HOST:8786")
    for logger in LOGGERS:
        logging.getLogger(logger).setLevel(logging.CRITICAL)  # kfuzz handles lost workers itself
    try:
        return Cluster(Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="kfuzz"), address)
    except (OSError, ValueError) as error:
        raise DeviceError(f"--cluster {address}: no Dask scheduler answers there: {error}") from None


def run_errands(
    cluster: Cluster, streams: Sequence[Iterator[Errand | None]], until: float | None
) -> Generator[tuple[int, Sequence[Any]], None, None]:
    """Yield the results of each stream's errands, in its order; when time is up, end early and cancel the rest."""
    submitted: list[deque[_Submission]] = [deque() for _ in streams]
    news = threading.Event()
    threads, asked = 0, -inf
    try:
        while until is None or time.monotonic() < until:
            news.clear()
            if time.monotonic() > asked + LOOK_SECONDS:  # it asks the scheduler, and workers rarely come and go
                threads, asked = max(1, cluster.threads), time.monotonic()
            for stream, out in zip(streams, submitted, strict=True):
                running = sum(not one.is_done() for one in out)
                room = max(0, min(AHEAD * threads - running, MOST_WAITING * threads - len(out)))
                while room and (errand := next(stream, None)) is not None:
                    out.append(_Submission(cluster.client, errand, news))
                    room -= 1
            if not any(submitted):
                return
            done = [(number, out.popleft()) for number, out in enumerate(submitted) if out and out[0].is_done()]
            for number, first in done:
                yield number, first.result()
            if not done:
                news.wait(LOOK_SECONDS)
    finally:
        for one in (one for out in submitted for one in out):
            one.cancel()


class _Submission:
    """An errand on the cluster, and how often its workers were lost; `news` is set when its result arrives.

    Results are fetched at once, since a worker may be lost, and of many errands side by side: a busy worker takes a
    quarter of a second to send a result.
    """

    def __init__(self, client: Client, errand: Errand, news: threading.Event) -> None:
        self.client, self.errand, self.news = client, errand, news
        self.losses = 0
        self.outcome: Sequence[Any] | Exception | None = None
        self._submit()

    def _submit(self) -> None:
        key = f"{self.errand.name} {uuid.uuid4().hex[:8]}"
        resources = {GPU: 1} if self.errand.device == "gpu" else None
        self.coming: Coming[Sequence[Any]] | None = None
        submit = self.client.submit
        self.future: Future | None = submit(run_errand, self.errand, key=key, pure=False, resources=resources)
        self.future.add_done_callback(self._fetch)

    def _fetch(self, future: Future) -> None:
        """Begin to fetch the result from its worker; a thread of Dask calls this."""
        if self.future is None:
            return
        self.coming = asyncio.run_coroutine_threadsafe(
            self.client.gather(future, asynchronous=True), self.client.loop.asyncio_loop
        )
        self.coming.add_done_callback(lambda _: self.news.set())

    def is_done(self) -> bool:
        """Whether it has a result or an error."""
        if self.future is not None and self.coming is not None and self.coming.done():
            try:
                self.outcome = self.coming.result()
            except KilledWorker:  # Dask blames an errand after several of its workers were lost
                self.losses += 1
                if self.losses <= MOST_LOSSES:
                    self._submit()
                    return False
                self.outcome = DeviceError(f"{self.errand.name}: every worker that ran it was lost")
            except CancelledError:
                self.outcome = DeviceError("the cluster's scheduler is gone: start it again, and use --out to resume")
            except Exception as error:  # any error is raised when it is this errand's turn
                self.outcome = error
            self.future = None  # the cluster may forget the result now
        return self.future is None

    def cancel(self) -> None:
        """Cancel the errand if it still runs."""
        future, self.future = self.future, None  # first, since a cancelled future counts as done
        if future is not None:
            future.cancel()

    def result(self) -> Sequence[Any]:
        """Its result; raises its error."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        assert self.outcome is not None, "is_done() was true"
        return self.outcome


_own = threading.local()


def run_errand(errand: Errand) -> list[Any]:
    """Run an errand on a worker, each of whose threads keeps one device open."""
    check_errand(errand, get_worker().address)
    return list(errand.work(_device(errand), errand.task))


def _device(errand: Errand) -> Device:
    """The device of this thread, opened at its first use."""
    wanted = pickle.dumps(errand.make_device)
    if getattr(_own, "wanted", None) != wanted:
        if (before := getattr(_own, "device", None)) is not None:
            before.close()
        _own.device, _own.wanted = errand.make_device(), wanted
    device: Device = _own.device
    return device
