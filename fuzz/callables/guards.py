"""The allocator of --guard-all: what was written beside the memory that it gave, or into what was freed.

guards.cpp does the work, in the process that calls; torch is not needed for it, and nothing of torch is known here.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kfuzz.callables.lending import ITS_OWN, describe_overwrites
from kfuzz.devices import DeviceError, Finding, host_compiler

SOURCE = Path(__file__).with_name("guards.cpp")
DRIVER = "libcuda.so.1"
MOST = 16


def library() -> Path:
    """The allocator, compiled."""
    return host_compiler.build_library(SOURCE)


class RawWrite(ctypes.Structure):
    """What the guards tell, as guards.cpp has it."""

    _fields_ = (
        ("bytes", ctypes.c_int64),
        ("at", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("is_freed", ctypes.c_int32),
        ("unused", ctypes.c_int32),
    )


class Guards:
    """The allocator, ready for torch or for whoever else calls it."""

    def __init__(self, path: Path, hears_of_lending: bool, driver: str = DRIVER) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.kfuzz_guards_open.restype = ctypes.c_char_p
        if missing := self.library.kfuzz_guards_open(driver.encode(), 0, int(hears_of_lending)):
            raise DeviceError(f"--guard-all: {driver} has no {missing.decode()}")

    def begin(self, word: int) -> None:
        """Poison of this word in what is allocated from now on."""
        self.library.kfuzz_guards_begin(ctypes.c_uint32(word))

    def findings(self) -> Iterator[Finding]:
        """What was written where nobody may since somebody looked last; nothing where the card has failed."""
        seen = (RawWrite * MOST)()
        for raw in seen[: max(0, min(MOST, self.library.kfuzz_guards_look(seen, MOST)))]:
            yield from describe_write(raw)


def describe_write(raw: RawWrite) -> Iterator[Finding]:
    """A finding. What writes to freed memory may yet be right, where whoever frees it knows that nobody asks for it."""
    words = f"{raw.bytes} bytes"
    if raw.is_freed:
        message = f"byte {raw.at} of {words} that torch allocates is written after they are freed"
        yield Finding("use-after-free", message, "warning", array=ITS_OWN, count=raw.count)
        return
    for found in describe_overwrites(words, [raw.at], raw.bytes):
        yield replace(found, message=f"{found.message.rpartition(', ')[0]}, {raw.count} bytes in all", count=raw.count)
