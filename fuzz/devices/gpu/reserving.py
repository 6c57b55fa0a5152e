"""Takes turns at something that only one process at a time does on a GPU.

Knows files and locks; it knows no GPU.
"""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

START = "start"
"""What a process takes a turn at when it starts to use a GPU. The driver makes one context after the other: if twelve
processes begin together, each has its own only when the last one has."""
MOST_WAITING, BETWEEN_LOOKS = 20.0, 0.002
"""Seconds. A process that waits longer goes on: the one whose turn it is may never end."""


@contextlib.contextmanager
def take_turn(what: str, most: float = MOST_WAITING) -> Iterator[bool]:
    """Wait while another process of this user does this on any GPU, at most so many seconds; whether it is alone."""
    until = time.monotonic() + most
    with _open_lock(what) as file:
        while not (is_alone := _lock(file)) and time.monotonic() < until:
            time.sleep(BETWEEN_LOOKS)  # flock itself waits without a time-out
        yield is_alone


@contextlib.contextmanager
def reserve(what: str, place: str) -> Iterator[bool]:
    """Whether no other process of this user does this on the GPU at this place. The others do not wait."""
    with _open_lock(what, place) as file:
        yield _lock(file)


def _open_lock(*names: str) -> IO[str]:
    return (Path(tempfile.gettempdir()) / "-".join(("kfuzz", names[0], str(os.getuid()), *names[1:]))).open("a")


def _lock(file: IO[str]) -> bool:
    """Whether the file is this process's now, until it closes it or ends."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
