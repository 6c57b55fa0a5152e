"""What a process prints: read as it comes, so that it never waits, and not shown, so that it cannot look like kfuzz's
own lines. The last bytes are kept, and how many there were.

Knows pipes and bytes; never what is printed.
"""

import fcntl
import os
import termios
import threading
import time
from array import array
from collections import deque
from contextlib import suppress

from kfuzz.common.printable import printable

KEPT = 1 << 16
"""Bytes."""
MOST_READ, PAUSE = 1 << 20, 0.005
"""Bytes at a time, and seconds after as many as are kept: 200 MB a second. Without a pause, a process that prints
without end took the interpreter from the thread that waits for its answer, for 40 s of its 1.5 s on a busy machine."""
MOST_PRINTED = 64 << 20
"""Bytes that a process in a sandbox may print; then its end of the pipe breaks."""
QUOTED = 200
"""Characters of the last line."""
LAST_WORDS = 0.5
"""Seconds for which the last bytes of a process that has ended are waited for."""


class PrintReader(threading.Thread):
    """The thread that reads; it has a type, since a call that starts a worker does not leave it running by mistake."""


class PrintedText:
    """The standard output and the standard errors of one process. `end` is its end of the pipe. `most`: bytes that it
    may print.
    """

    def __init__(self, most: int | None = None) -> None:
        self._pipe, self.end = os.pipe()
        self._most = most
        self._parts: deque[bytes] = deque()
        self._held = self.bytes = 0
        self._reader = PrintReader(target=self._read, daemon=True)

    def begin(self) -> None:
        """Read from now on; the process has its end of the pipe."""
        os.close(self.end)
        with suppress(OSError):  # the system allows a user only so many large ones
            fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, MOST_READ)
        self._reader.start()

    def _read(self) -> None:
        while (self._most is None or self.bytes < self._most) and (part := os.read(self._pipe, MOST_READ)):
            self.bytes += len(part)
            self._held += len(part)
            self._parts.append(part)
            while self._held - len(self._parts[0]) >= KEPT:
                self._held -= len(self._parts.popleft())
            if len(part) >= KEPT:
                time.sleep(PAUSE)
        os.close(self._pipe)

    @property
    def is_unread(self) -> bool:
        """Whether it has printed something that is not read yet: it may be waiting for us."""
        size = array("i", [0])
        with suppress(OSError):  # it is closed meanwhile
            fcntl.ioctl(self._pipe, termios.FIONREAD, size)
        return size[0] > 0

    def words(self) -> str:
        """The last line that was printed, as quoted words after a message; empty if there is none."""
        self._reader.join(LAST_WORDS)
        lines = b"".join(self._parts).decode(errors="replace").split("\n")
        last = next((one.strip() for one in reversed(lines) if one.strip()), "")
        if not last:
            return ""
        quoted = printable(last if len(last) <= QUOTED else f"...{last[-QUOTED:]}")
        cut = f"; of {self.bytes:,} bytes only the last are kept" if self.bytes > KEPT else ""
        return f' (it printed "{quoted}"{cut})'
