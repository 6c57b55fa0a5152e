"""The queue of answers, and the processes that judge them: as many at a time as there are processes.

Each verdict comes as soon as it is there. A process that ends, whatever ended it, is replaced, and its answer is tried
once more, alone. Knows processes and time; never where answers come from. Long, since a thread hands out, takes back
and replaces, and all of that is one state.
"""

import contextlib
import os
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from math import inf
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from types import TracebackType

from kfuzz.campaign.answers import COLD_START, SHRINKING, Judgement
from kfuzz.campaign.children import Child, end_all
from kfuzz.common.errors import ClaimError, DeviceError, line_of
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import processes
from kfuzz.devices.sandbox.box import describe
from kfuzz.ui.serving.bench import BenchBegun, BenchMessage, BenchReady, JudgingBench, JudgingError, work_at
from kfuzz.ui.serving.requests import JudgingRequest

MOST_WAITING = 1024
MOST_RESIDENT = 1 << 30
"""Bytes: a process that keeps more is replaced. The verdict on a row of a million elements takes 300 MB, and as much as
512 MB that were freed stay with their process."""
MOST_FAILED_STARTS = 3
"""In a row: then it is the machine's fault."""
TO_START = 120.0
AFTER_ALL = 60.0
"""Seconds beside all limits of an answer, in which its process should have ended."""


class QueueFullError(JudgingError):
    """As many answers wait as may wait."""

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} answers wait already: try again later", is_request=False)


@dataclass
class _Ticket:
    """A request, and where its verdict is awaited."""

    request: JudgingRequest
    future: "Future[Judgement]" = field(default_factory=Future)
    has_begun: bool = False
    is_again: bool = False
    """Its first process has ended: it is tried alone."""

    def begin(self) -> bool:
        """Whether it is still wanted: from now on it is not cancelled."""
        self.has_begun = self.has_begun or self.future.set_running_or_notify_cancel()
        return self.has_begun


class _JudgingProcess:
    """One process and what it does."""

    def __init__(self) -> None:
        self.child: Child[JudgingRequest, BenchMessage] = Child(JudgingBench, work_at)
        with contextlib.suppress(DeviceError):  # it has ended already, and its pipe says so
            self.child.begin()
        self.ticket: _Ticket | None = None
        self.is_ready = self.has_begun = False
        self.deadline = time.monotonic() + TO_START

    @property
    def is_free(self) -> bool:
        """Whether it waits for an answer."""
        return self.is_ready and self.ticket is None


@dataclass(frozen=True)
class PoolCounts:
    """How many processes there are, and answers in each state; `lost`: processes that ended by themselves."""

    processes: int
    judging: int
    waiting: int
    judged: int
    lost: int


class JudgingPool:
    """Processes that judge, for callers in any thread. `is_only`: no other part of this process starts processes, so
    that what is left of a process that was killed can be ended, too. `most_resident`: bytes of memory with which a
    process goes on.
    """

    def __init__(
        self, jobs: int, is_only: bool = False, most_waiting: int = MOST_WAITING, most_resident: int = MOST_RESIDENT
    ) -> None:
        self.jobs, self._is_only, self._most, self._most_resident = jobs, is_only, most_waiting, most_resident
        self._lock = threading.Lock()
        self._waiting: deque[_Ticket] = deque()
        self._again: deque[_Ticket] = deque()
        self._places: list[_JudgingProcess] = []
        self._judged = self._lost = self._failed_starts = 0
        self.why_ended = ""
        """Why it judges no more; empty while it does."""
        self._box = describe()  # which forks: while there is one thread
        self._is_closing = False
        resource_tracker.ensure_running()
        if is_only:
            processes.adopt_orphans()
        self._others = processes.children() if is_only else frozenset()
        self._woken, self._wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, request: JudgingRequest) -> "Future[Judgement]":
        """Queue a request; QueueFullError if too many wait. The future has a judgement, or raises a JudgingError. One
        that is cancelled while it waits is not judged.
        """
        ticket = _Ticket(request)
        with self._lock:
            if self.why_ended:
                raise JudgingError(self.why_ended, is_request=False)
            if len(self._waiting) >= self._most:
                self._waiting = deque(one for one in self._waiting if not one.future.cancelled())
            if len(self._waiting) >= self._most:
                raise QueueFullError(self._most)
            self._waiting.append(ticket)
        self._wake()
        return ticket.future

    @property
    def counts(self) -> PoolCounts:
        """What there is now."""
        with self._lock:
            busy = sum(one.ticket is not None for one in self._places)
            waiting = sum(not one.future.cancelled() for one in (*self._waiting, *self._again))
            return PoolCounts(len(self._places), busy, waiting, self._judged, self._lost)

    def close(self) -> None:
        """End the processes; those that wait for a verdict get a JudgingError."""
        self._is_closing = True
        self._wake()
        self._thread.join()

    def __enter__(self) -> "JudgingPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wake(self) -> None:
        with self._lock, contextlib.suppress(BlockingIOError):  # it will wake anyway
            if not self.why_ended:
                os.write(self._wakes, b"x")

    def _run(self) -> None:
        why = "kfuzz was ended before this answer was judged"
        try:
            with self._lock:
                self._places = [_JudgingProcess() for _ in range(self.jobs)]
            while not self._is_closing:
                self._hand_out()
                self._wait()
        except Exception as error:  # those who wait must hear of it
            why = line_of(error)
        finally:
            self._end(why)

    def _end(self, why: str) -> None:
        with self._lock:
            self.why_ended = why
            places, self._places = self._places, []
            left = [*self._again, *self._waiting, *(one.ticket for one in places if one.ticket)]
            self._again.clear()
            self._waiting.clear()
        for one in left:
            _settle(one, JudgingError(why, is_request=False))
        for place in places:
            place.child.is_busy = place.ticket is not None or not place.is_ready
        end_all([place.child for place in places])
        self._end_orphans()
        os.close(self._wakes)
        os.close(self._woken)

    def _end_orphans(self) -> None:
        """End what processes have left that were killed."""
        if self._is_only:
            own = {one.child.process.pid for one in self._places}
            processes.end_children(self._others | {one for one in own if one is not None})

    def _hand_out(self) -> None:
        """Give answers to free processes; one that is tried again is alone."""
        for place in self._places:
            if place.is_free and (ticket := self._next()):
                place.ticket, place.deadline = ticket, time.monotonic() + most_seconds(ticket.request)
                try:
                    place.child.send(ticket.request)
                except (DeviceError, ClaimError) as error:
                    self._lose(place, str(error))

    def _next(self) -> _Ticket | None:
        """The next answer that may begin now."""
        busy = [one.ticket for one in self._places if one.ticket]
        if any(one.is_again for one in busy) or (self._again and busy):
            return None
        with self._lock:
            for queue in (self._again, self._waiting):
                while queue:
                    ticket = queue.popleft()
                    if ticket.begin():
                        return ticket
        return None

    def _wait(self) -> None:
        """Wait until a process has something to say, has ended or takes too long, or a caller wakes this thread."""
        until = min((one.deadline for one in self._places if not one.is_free), default=inf)
        by_pipe = {one.child.pipe: one for one in self._places}
        ready = wait([self._woken, *by_pipe], None if until == inf else max(0.0, until - time.monotonic()))
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, 1 << 12):
                pass
        for pipe, place in by_pipe.items():
            if pipe in ready:
                self._take(place)
            elif not place.is_free and time.monotonic() > place.deadline:
                self._cut(place)

    def _take(self, place: _JudgingProcess) -> None:
        """Take what a process says."""
        try:
            said = place.child.receive()
        except (DeviceError, ClaimError, OSError) as error:
            self._lose(place, str(error) or "a process of kfuzz was killed")
            return
        if isinstance(said, BenchReady):
            place.is_ready, self._failed_starts = True, 0
            place.child.is_busy = False
            return
        if isinstance(said, BenchBegun):
            place.has_begun = True
            return
        ticket, place.ticket = place.ticket, None
        place.is_ready = place.has_begun = False
        place.deadline = time.monotonic() + TO_START
        assert ticket is not None
        if said.found is None:
            with self._lock:
                self._waiting.appendleft(ticket)
        else:
            self._judged += 1
            _settle(ticket, said.found)
        if said.found is None or said.resident > self._most_resident:
            self._replace(place)

    def _cut(self, place: _JudgingProcess) -> None:
        """End a process that takes longer than all limits together: kfuzz itself has failed."""
        ticket, place.ticket = place.ticket, None
        if ticket is not None:
            _settle(ticket, self._unjudged(ticket.request, f"not judged within {most_seconds(ticket.request):.0f} s"))
        self._lost += 1
        place.child.process.kill()
        self._replace(place)

    def _lose(self, place: _JudgingProcess, why: str) -> None:
        """Replace a process that has ended by itself. An answer that it had begun is tried once more."""
        ticket, place.ticket = place.ticket, None
        self._lost += 1
        if ticket is None and not place.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= MOST_FAILED_STARTS * self.jobs:
                raise DeviceError(f"no process that judges can be started: {why}")
        if ticket is not None and not place.has_begun:
            with self._lock:
                (self._again if ticket.is_again else self._waiting).appendleft(ticket)
        elif ticket is not None and ticket.is_again:
            twice = f"{why}; twice, and the second time nothing else was judged"
            _settle(ticket, self._unjudged(ticket.request, twice))
        elif ticket is not None:
            ticket.is_again = True
            with self._lock:
                self._again.append(ticket)
        self._replace(place)

    def _replace(self, place: _JudgingProcess) -> None:
        place.child.is_busy = False
        place.child.close()
        fresh = _JudgingProcess()
        with self._lock:
            self._places[self._places.index(place)] = fresh
        self._end_orphans()

    def _unjudged(self, request: JudgingRequest, why: str) -> Judgement:
        terms, box = request.terms, self._box if request.is_sandboxed else ""
        return Judgement("cannot run", "none", why, seed=terms.seed, budget=terms.budget, sandbox=box)


def most_seconds(request: JudgingRequest) -> float:
    """In which an answer is judged, whatever it does: its reference, its compilation, all trials, a smaller case."""
    return 2 * time_limits().compile + COLD_START + 2 * request.terms.budget + SHRINKING + AFTER_ALL


def _settle(ticket: _Ticket, found: Judgement | JudgingError) -> None:
    """Give it to those that wait."""
    with contextlib.suppress(InvalidStateError):  # it was cancelled while it waited
        if isinstance(found, JudgingError):
            ticket.future.set_exception(found)
        else:
            ticket.future.set_result(found)
