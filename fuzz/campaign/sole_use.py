"""Keeps a second campaign out of a folder with the state of one that still runs.

The lock is the system's, so it ends with its process, however that ends. Knows the folder; never what is in it.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kfuzz.cases.errors import CaseError

FILE = "lock"


@contextmanager
def sole_use(out: Path | None) -> Iterator[None]:
    """Hold the folder's lock; a CaseError of one line if another process holds it."""
    if out is None:
        yield
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(out / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise unwritten(out, error) from None
    try:
        _take(handle, out)
        yield
    finally:
        os.close(handle)  # the file stays: a new one would be another lock for those that wait with the old one open


def _take(handle: int, out: Path) -> None:
    """Take the lock and write this process's number into the file."""
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(handle, 32).decode(errors="replace").strip()
        whose = f" (process {holder})" if holder else ""
        raise CaseError(f"{out}: a campaign{whose} uses it; wait for its end, or give another --out") from None
    try:
        os.ftruncate(handle, os.pwrite(handle, f"{os.getpid()}\n".encode(), 0))
    except OSError as error:
        raise unwritten(out, error) from None


def unwritten(out: Path, error: OSError) -> CaseError:
    """The error of one line for a folder that cannot be written."""
    return CaseError(f"{out}: cannot be written: {error.strerror}; a campaign keeps its state there")
