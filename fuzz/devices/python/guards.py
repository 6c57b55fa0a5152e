"""The allocator of --guard-all: it detects writes beside the memory that it allocated, and writes to freed memory.

guards.cpp does the work in the calling process. It does not need torch, and this module knows nothing of torch.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kfuzz.devices import DeviceError, Finding, host_compiler
from kfuzz.devices.python.lending import ITS_OWN, describe_overwrites
from kfuzz.oracle.numbers.plural import plural

SOURCE = Path(__file__).with_name("guards.cpp")
DRIVER = "libcuda.so.1"
MOST = 16


def library() -> Path:
    """The allocator, compiled."""
    return host_compiler.build_library(SOURCE)


class RawWrite(ctypes.Structure):
    """What the guards report; guards.cpp has the same struct."""

    _fields_ = (
        ("bytes", ctypes.c_int64),
        ("at", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("is_freed", ctypes.c_int32),
        ("unused", ctypes.c_int32),
    )


class Guards:
    """The allocator, ready for torch or any other caller."""

    def __init__(self, path: Path, hears_of_lending: bool, driver: str = DRIVER) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.kfuzz_guards_open.restype = ctypes.c_char_p
        if missing := self.library.kfuzz_guards_open(driver.encode(), 0, int(hears_of_lending)):
            raise DeviceError(f"--guard-all: {driver} has no {missing.decode()}")

    def begin(self, word: int) -> None:
        """Fill what is allocated from now on with this poison."""
        self.library.kfuzz_guards_begin(ctypes.c_uint32(word))

    def findings(self) -> Iterator[Finding]:
        """Writes to guards and freed memory since the last look; nothing if the GPU has failed."""
        seen = (RawWrite * MOST)()
        for raw in seen[: max(0, min(MOST, self.library.kfuzz_guards_look(seen, MOST)))]:
            yield from describe_write(raw)


def describe_write(raw: RawWrite) -> Iterator[Finding]:
    """A finding for one write. A write to freed memory is a warning: it is harmless while the memory is unused."""
    words = plural(raw.bytes, "byte")
    if raw.is_freed:
        message = f"byte {raw.at} of {words} that torch allocates is written after they are freed"
        yield Finding("use-after-free", message, "warning", array=ITS_OWN, count=raw.count)
        return
    for found in describe_overwrites(words, [raw.at], raw.bytes):
        yield replace(
            found, message=f"{found.message.rpartition(', ')[0]}, {plural(raw.count, 'byte')} in all", count=raw.count
        )
