"""Whether a process is at work: one that is not, and does not answer, hangs.

Knows processes and what they print; never what runs in them.
"""

import time

from kfuzz.devices import processes
from kfuzz.devices.worker.printed import PrintedText

AT_WORK = 0.01
"""The part of a time for which a process that is at work has a processor, at least."""


class Activity:
    """What a process, with all that it has started, does between one look and the next."""

    def __init__(self, pid: int, printed: PrintedText | None) -> None:
        self._pid, self._printed = pid, printed
        self._seconds, self._bytes, self._looked = self._used(), self._printed_bytes(), time.monotonic()

    def is_at_work(self) -> bool:
        """Whether it has used or wanted a processor since the last look, or printed; or waits for a disk, its memory,
        or for kfuzz to read what it prints.
        """
        seconds, printed, looked = self._seconds, self._bytes, self._looked
        self._seconds, self._bytes, self._looked = self._used(), self._printed_bytes(), time.monotonic()
        return (
            self._seconds - seconds >= AT_WORK * (self._looked - looked)
            or self._bytes > printed
            or processes.is_held_up(self._pid)
            or (self._printed is not None and self._printed.is_unread)
        )

    def _used(self) -> float:
        return processes.processor_seconds(self._pid) + processes.waiting_time(self._pid)

    def _printed_bytes(self) -> int:
        return self._printed.bytes if self._printed else 0
