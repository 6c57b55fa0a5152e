"""Runs that go on beside the first one of a program, on the processors that it does not need.

Knows threads and when a run may begin ahead; it does not know what a run shows.
"""

import os
import re
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from kfuzz.devices.cpu.abi import Status
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.programs.made_up import NUMBERS
from kfuzz.devices.cpu.programs.messages import ProgramEnd
from kfuzz.devices.cpu.programs.server import OutOfMemoryError, Printed, Server

HEAD_START = 1.0
"""Seconds of the first run before others begin: runs of a short program take less than to start another process."""
RESERVE_ONE_IN = 4
"""Runs ahead give way once the machine has less than this part of its memory left."""

EndAndPrinted = tuple[ProgramEnd, Printed]


@dataclass
class _AheadRun:
    """A run that may begin ahead, on a thread of its own."""

    manner: Manner
    server: Server
    has_ended: threading.Event = field(default_factory=threading.Event)
    has_begun: bool = False
    is_taken: bool = False
    result: EndAndPrinted | None = None


class RunsAhead:
    """Runs in these manners, which begin unless they are asked for before."""

    def __init__(
        self,
        manners: Sequence[Manner],
        at_once: int,
        run: Callable[[Server, Manner], EndAndPrinted],
        numbers: tuple[int, ...] = NUMBERS,
    ) -> None:
        chosen = manners if at_once > 0 else ()
        self._runs = [_AheadRun(one, Server(RESERVE_ONE_IN, True, numbers)) for one in chosen]
        self._run, self._processors = run, threading.Semaphore(max(0, at_once))
        self._no_more, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._begin, args=(one,), daemon=True) for one in self._runs]

    def __enter__(self) -> Self:
        for one in self._threads:
            one.start()
        return self

    def _begin(self, one: _AheadRun) -> None:
        try:
            if self._no_more.wait(HEAD_START):
                return
            with self._processors:
                with self._lock:
                    one.has_begun = not (one.is_taken or self._no_more.is_set())
                if one.has_begun:
                    end, printed = self._run(one.server, one.manner)
                    # Beside others it may lack memory that it has alone.
                    one.result = (end, printed) if end.status != Status.refused else None
        except OutOfMemoryError:
            pass
        finally:
            one.server.close()
            one.has_ended.set()

    def take(self, manner: Manner) -> EndAndPrinted | None:
        """The result of a run, once it is there; None if it has not begun, or could not go on beside the others."""
        with self._lock:
            one = next((run for run in self._runs if run.manner == manner and not run.is_taken), None)
            if one is None:
                return None
            one.is_taken = True
            if not one.has_begun:
                if not any(run.has_begun for run in self._runs):
                    self._no_more.set()
                return None
        self._processors.release()  # that of the caller, while it waits
        one.has_ended.wait()
        self._processors.acquire(blocking=False)
        return one.result

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._no_more.set()
        for one in self._runs:
            one.server.end()
        for thread in self._threads:
            thread.join()


WRITES = re.compile(
    r"open|creat|filebuf|fstream|filesystem|system|exec|fork|spawn|mk(?:dir|fifo|nod|d?s?temp)|rename|unlink|remove"
    r"|rmdir|link|truncate|tmpfile|tmpnam|socket|shm|sem(?:get|_open)|msgget|mq_|syscall|dlsym"
)
"""Part of the name of each function by which a run could change what another one reads."""
OF_RUNTIME = ("cu", "nccl")
USUAL = re.compile(r"lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp)\.so|ld-linux")
"""Libraries whose functions have names that WRITES knows."""


def writes_no_files(program: Path) -> bool:
    """Whether nothing that a program imports can write files, or start a process that does.

    Runs of other programs go one after the other: a run must not read what another one is writing.
    """
    asked = (["nm", "-D", "--undefined-only", "--format=posix", str(program)], ["objdump", "-p", str(program)])
    symbols, header = (subprocess.run(one, capture_output=True, text=True, check=False).stdout for one in asked)
    libraries = [line.split()[1] for line in header.splitlines() if line.split()[:1] == ["NEEDED"]]
    imported = [line.split("@")[0].split()[0] for line in symbols.splitlines()]
    can_write = any(WRITES.search(one) for one in imported if not one.startswith(OF_RUNTIME))
    return bool(libraries) and not can_write and all(USUAL.match(one) for one in libraries)


def count_processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
