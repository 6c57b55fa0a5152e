"""Errands on a Dask cluster that somebody else operates, of which we know the address of its scheduler.

An errand whose worker is lost is done again by another. The one file that imports Dask.
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
"""Errands given out for each thread of the cluster: one at work, one that it goes on with, and one since Dask does not
share them out evenly."""
MOST_WAITING = 16
"""Errands for each thread between the one whose turn it is and the last that was given out: as far ahead as processes
of one machine go (crew.WINDOW)."""
LOOK_SECONDS = 0.2
MOST_LOSSES = 10
"""So often may one errand go down with its workers; the next time it is to blame."""
LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""Dask gives the second a level of its own; the third tells of what a signal has interrupted."""
GPU = "GPU"
"""The resource that a worker with a card declares: `dask worker ... --resources GPU=1`."""


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
        """How many errands it can do at once, as of now."""
        return sum(self.client.nthreads().values())

    @property
    def has_gpu(self) -> bool:
        """Whether a worker declares one."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return any(worker["resources"].get(GPU, 0) for worker in workers.values())


def connect(address: str) -> Cluster:
    """The cluster of this scheduler; DeviceError where none answers."""
    if not ADDRESS.fullmatch(address):
        raise DeviceError(f"--cluster {address}: no address of a scheduler; write tcp://HOST:8786")
    for logger in LOGGERS:
        logging.getLogger(logger).setLevel(logging.CRITICAL)  # lost workers are our affair, and are made good
    try:
        return Cluster(Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="kfuzz"), address)
    except (OSError, ValueError) as error:
        raise DeviceError(f"--cluster {address}: no Dask scheduler answers there: {error}") from None


def spread(
    cluster: Cluster, streams: Sequence[Iterator[Errand | None]], until: float | None
) -> Generator[tuple[int, Sequence[Any]], None, None]:
    """What comes of the errands of each stream, in its order; ends early when time is up, and leaves nothing behind."""
    given: list[deque[_Submission]] = [deque() for _ in streams]
    news = threading.Event()
    threads, asked = 0, -inf
    try:
        while until is None or time.monotonic() < until:
            news.clear()
            if time.monotonic() > asked + LOOK_SECONDS:  # a question to the scheduler, and workers come and go rarely
                threads, asked = max(1, cluster.threads), time.monotonic()
            for stream, out in zip(streams, given, strict=True):
                at_work = sum(not one.is_done() for one in out)
                room = max(0, min(AHEAD * threads - at_work, MOST_WAITING * threads - len(out)))
                while room and (errand := next(stream, None)) is not None:
                    out.append(_Submission(cluster.client, errand, news))
                    room -= 1
            if not any(given):
                return
            come = [(number, out.popleft()) for number, out in enumerate(given) if out and out[0].is_done()]
            for number, first in come:
                yield number, first.found()
            if not come:
                news.wait(LOOK_SECONDS)
    finally:
        for one in (one for out in given for one in out):
            one.cancel()


class _Submission:
    """An errand that was given out, and how often its workers were lost; `news` is set when something comes of it.

    What comes is fetched at once, as its worker may be lost, and of many errands side by side: a worker that computes
    takes a quarter of a second to hand out what it has.
    """

    def __init__(self, client: Client, errand: Errand, news: threading.Event) -> None:
        self.client, self.errand, self.news = client, errand, news
        self.losses = 0
        self.come: Sequence[Any] | Exception | None = None
        self._submit()

    def _submit(self) -> None:
        key = f"{self.errand.name} {uuid.uuid4().hex[:8]}"
        resources = {GPU: 1} if self.errand.device == "gpu" else None
        self.coming: Coming[Sequence[Any]] | None = None
        submit = self.client.submit
        self.future: Future | None = submit(run_errand, self.errand, key=key, pure=False, resources=resources)
        self.future.add_done_callback(self._fetch)

    def _fetch(self, future: Future) -> None:
        """Begin to take what has come from its worker; a thread of Dask's calls this."""
        if self.future is None:
            return
        self.coming = asyncio.run_coroutine_threadsafe(
            self.client.gather(future, asynchronous=True), self.client.loop.asyncio_loop
        )
        self.coming.add_done_callback(lambda _: self.news.set())

    def is_done(self) -> bool:
        """Whether something has come of it, be it an error."""
        if self.future is not None and self.coming is not None and self.coming.done():
            try:
                self.come = self.coming.result()
            except KilledWorker:  # several were lost with it in turn, which Dask takes for its fault
                self.losses += 1
                if self.losses <= MOST_LOSSES:
                    self._submit()
                    return False
                self.come = DeviceError(f"{self.errand.name}: lost with each worker that it was given to")
            except CancelledError:
                self.come = DeviceError("the cluster's scheduler is gone: start it again, and give --out to go on")
            except Exception as error:  # whatever it is, it is told when it is this errand's turn
                self.come = error
            self.future = None  # nobody keeps what has come but this
        return self.future is None

    def cancel(self) -> None:
        """Nobody is interested any more."""
        future, self.future = self.future, None  # first, since what is cancelled counts as done
        if future is not None:
            future.cancel()

    def found(self) -> Sequence[Any]:
        """What has come of it; its error is raised here."""
        if isinstance(self.come, Exception):
            raise self.come
        assert self.come is not None, "is_done() said so"
        return self.come


_own = threading.local()


def run_errand(errand: Errand) -> list[Any]:
    """Do an errand; runs on a worker. Each of its threads keeps one device open."""
    check_errand(errand, get_worker().address)
    return list(errand.work(_device(errand), errand.task))


def _device(errand: Errand) -> Device:
    """The device of this thread, opened when it is first asked for."""
    wanted = pickle.dumps(errand.make_device)
    if getattr(_own, "wanted", None) != wanted:
        if (before := getattr(_own, "device", None)) is not None:
            before.close()
        _own.device, _own.wanted = errand.make_device(), wanted
    device: Device = _own.device
    return device
