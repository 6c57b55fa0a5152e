"""Takes turns at something that only one process at a time does on a GPU.

Knows files and locks; it knows no GPU.
"""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def reserve(what: str, place: str) -> Iterator[bool]:
    """Whether no other process of this user does this on the GPU at this place. The others do not wait."""
    with (Path(tempfile.gettempdir()) / f"kfuzz-{what}-{os.getuid()}-{place}").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
