"""Messages through a pipe between two processes of kfuzz: Python objects, with their arrays as they lie in memory.

Knows bytes and time; never what a message means.
"""

import io
import os
import pickle
import select
import struct
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import IO, Any

import numpy as np

LENGTH = struct.Struct("<Q")
PIPE_BYTES = 1 << 20
"""A job and its outcome fit whole, mostly: neither side has to wait while the other one reads."""
READ_AHEAD = 1 << 16


class Incoming:
    """What comes through a pipe: with what is asked for comes what has been written behind it, as far as it fits."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._poll = pipe, select.poll()
        self._poll.register(pipe, select.POLLIN)
        self._spare = memoryview(bytearray(READ_AHEAD))
        self._here = self._spare[:0]

    @property
    def has_read(self) -> bool:
        """Whether bytes were read ahead."""
        return bool(self._here)

    def has_more(self) -> bool:
        """Whether something more is there."""
        return self.has_read or bool(self._poll.poll(0))

    def wait(self, seconds: float) -> bool:
        """Whether something more is there, within so many seconds."""
        return self.has_read or bool(self._poll.poll(max(0.0, seconds) * 1000))

    def read(self, deadline: float, count: int) -> bytearray:
        """So many bytes; TimeoutError where they are not there by the deadline, EOFError where none will be."""
        found = bytearray(self._here[:count])
        self._here = self._here[count:]
        if len(found) == count:
            return found
        begun = len(found)
        found.extend(bytes(count - begun))
        rest = memoryview(found)[begun:]
        while rest:
            left = None if deadline == inf else max(0.0, (deadline - time.monotonic()) * 1000)
            if not self._poll.poll(left):
                raise TimeoutError
            if not (came := os.readv(self._pipe, [rest, self._spare])):
                raise EOFError
            self._here = self._spare[: max(0, came - len(rest))]
            rest = rest[came:]
        return found


def read_message(read: Callable[[int], bytes | bytearray]) -> Any:  # noqa: ANN401  whatever was written
    """What the caller of a worker has written. Its arrays lie where they were read, and are not copied once more.

    Nothing that a worker has written is read so: pickle runs what it reads.
    """

    def number() -> int:
        return int(LENGTH.unpack(read(LENGTH.size))[0])

    head = read(number())
    arrays = [read(number()) for _ in range(number())]
    return pickle.loads(head, buffers=arrays)  # noqa: S301  written by our own process


class _Pickler(pickle.Pickler):
    """Arrays by the name of what they hold: numpy's own way says the same in four times as long."""

    def reducer_override(self, given: object) -> Any:  # noqa: ANN401  what pickle asks for
        if type(given) is not np.ndarray or given.dtype.hasobject:
            return NotImplemented
        lies: Any = np.ascontiguousarray(given)  # for mypy no array is a buffer
        dtype = given.dtype.str if given.dtype.names is None else given.dtype.descr  # of a narrow type, its name
        return np.ndarray, (given.shape, dtype, pickle.PickleBuffer(lies))


def pack_message(message: object) -> list[bytes | memoryview]:
    """A message without its arrays, then how many these are, and each as it lies in memory; lengths go before."""
    arrays: list[pickle.PickleBuffer] = []
    made = io.BytesIO()
    _Pickler(made, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append).dump(message)
    return pack_parts(made.getvalue(), [array.raw() for array in arrays])


def pack_parts(head: bytes, arrays: Sequence[Any]) -> list[bytes | memoryview]:
    """A head, how many arrays follow, and each as it lies in memory; lengths go before."""
    parts: list[bytes | memoryview] = [LENGTH.pack(len(head)) + head + LENGTH.pack(len(arrays))]
    for array in arrays:
        raw = memoryview(array if isinstance(array, memoryview) else array.reshape(-1).view(np.uint8))
        parts += [LENGTH.pack(raw.nbytes), raw]
    return parts


def write(pipe: IO[bytes], parts: list[bytes | memoryview]) -> None:
    """Write parts by one call of the system, unless they are too large to be joined."""
    for part in (b"".join(parts),) if sum(map(len, parts)) <= PIPE_BYTES else parts:
        pipe.write(part)
    pipe.flush()
