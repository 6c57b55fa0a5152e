"""GPU memory for callables: an arena with hard edges in the context that all libraries of a process share.

Knows the driver's copies and streams; it knows no library of arrays. It needs no other package.
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import DeviceError, Finding
from kfuzz.devices.gpu import driver
from kfuzz.devices.gpu.reserving import START, take_turn
from kfuzz.devices.memory.layout import ALIGNED, BESIDE, OUTPUT, Bytes
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.late_input import LateCopy, LateInput
from kfuzz.devices.python.lending import BESIDE_BYTES, ORDINARY, describe_overwrites, ordinary_bytes
from kfuzz.devices.python.lent_memory import LentArray


@dataclass(frozen=True)
class GpuView:
    """An array on the GPU."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...] | None
    host: None = None

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str if self.dtype.names is None else "|u1",  # the code of a narrow type
            "data": (self.address if 0 not in self.shape else 0, False),
            "strides": self.strides,
            "version": 3,
        }

    def write(self, content: NDArray[Any]) -> None:
        """Give it other elements."""
        assert self.strides is None, "what has strides is filled with all that lies between"
        send(self.address, np.ascontiguousarray(content, self.dtype))

    def read(self) -> NDArray[Any]:
        """A copy of its elements."""
        assert self.strides is None, "what has strides is read with all that lies between"
        return copy_from_gpu(self.address, np.empty(self.shape, self.dtype))


@dataclass(frozen=True)
class GpuStretch:
    """A part of the GPU's memory."""

    address: int
    nbytes: int

    def write(self, image: Bytes) -> None:
        """Fill it."""
        send(self.address, image)

    def read(self) -> Bytes:
        """A copy of it."""
        return copy_from_gpu(self.address, np.empty(self.nbytes, np.uint8))

    def view(self, array: NDArray[Any], start: int) -> GpuView:
        """The array that begins at a byte of it."""
        strides = None if array.flags.c_contiguous else array.strides
        return GpuView(self.address + start, array.shape, array.dtype, strides)


class GpuArena:
    """One stretch of the GPU's memory with nothing mapped on either side, and a second stretch for other arrays."""

    on_gpu = True

    def __init__(self) -> None:
        with take_turn(START):
            driver.gpu()
            context = ctypes.c_void_p()
            driver.call_driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
            driver.call_driver("cuCtxSetCurrent", context)
            self._arena, self._others = driver.Arena(), driver.Arena()
        self._beside = 0
        self.is_spent = False

    def room(self, nbytes: int, at_end: bool) -> GpuStretch:
        """This many bytes, a multiple of 256, at one of the two edges."""
        self._arena.hold(nbytes)
        self._beside = 0
        return GpuStretch(self._arena.base + (self._arena.capacity - nbytes if at_end else 0), nbytes)

    def beside(self, content: Bytes) -> GpuStretch:
        """Separate memory with this content; it is valid until the next call of `room`."""
        start, self._beside = self._beside, self._beside + -(-len(content) // ALIGNED) * ALIGNED
        self._others.hold(self._beside)
        made = GpuStretch(self._others.base + start, len(content))
        made.write(content)
        return made

    def holds(self, address: int) -> bool:
        """Whether an address lies in it."""
        return self._arena.base <= address < self._arena.base + self._arena.capacity

    def settle(self) -> None:
        """Wait for every stream; raise Fault if a kernel has ended the context."""
        code = driver.library().cuCtxSynchronize()
        if code == driver.SUCCESS:
            return
        self.is_spent = True
        words = driver.error_text(code)
        kind = driver.kind_of(words)
        if kind is None:
            raise DeviceError(f"the GPU failed: {words} (CUDA error {code})")
        raise Fault(Finding(kind, f"a kernel that the callable launches: {words}", step=0))

    def delay_input(self, inputs: Sequence[tuple[LentArray, Bytes]], seconds: float) -> LateInput:
        """Arrays and their later content, for a call that takes so many seconds."""
        contents = [content for _, content in inputs if len(content)]
        if not contents:
            return LateInput([], seconds)
        source = self.beside(np.concatenate(contents)).address
        starts = np.cumsum([0, *map(len, contents)])
        views = [view for view, content in inputs if len(content)]
        copies = [
            LateCopy(view.address, source + int(start), len(content))
            for view, content, start in zip(views, contents, starts, strict=False)
        ]
        return LateInput(copies, seconds)


def send(address: int, content: NDArray[Any]) -> None:
    """Copy to the GPU."""
    if content.nbytes:
        held = ctypes.c_void_p(content.ctypes.data)
        driver.call_driver("cuMemcpyHtoD_v2", ctypes.c_uint64(address), held, ctypes.c_size_t(content.nbytes))


def copy_from_gpu(address: int, array: NDArray[Any]) -> NDArray[Any]:
    """Copy from the GPU into an array."""
    if array.nbytes:
        held = ctypes.c_void_p(array.ctypes.data)
        driver.call_driver("cuMemcpyDtoH_v2", held, ctypes.c_uint64(address), ctypes.c_size_t(array.nbytes))
    return array


@dataclass(frozen=True)
class GpuBlock:
    """GPU memory that a callable allocated, with poison around it. `held` keeps it alive."""

    address: int
    nbytes: int
    words: str
    held: object


def guarded_size(nbytes: int) -> int:
    """The bytes to allocate so that `nbytes` of them have poison on either side."""
    return BESIDE_BYTES + -(-nbytes // 4) * 4 + BESIDE_BYTES


def poison_block(whole: int, nbytes: int, word: int, words: str, held: object) -> GpuBlock:
    """Paint memory that begins at `whole`: the callable's block, and the guards around it."""
    inside = -(-nbytes // 4)
    ends = BESIDE_BYTES // 4
    for start, count, value in (
        (whole, ends, word + BESIDE),
        (whole + BESIDE_BYTES, inside, word + OUTPUT),
        (whole + BESIDE_BYTES + 4 * inside, ends, word + BESIDE),
    ):
        driver.call_driver("cuMemsetD32_v2", ctypes.c_uint64(start), value & 0xFFFFFFFF, ctypes.c_size_t(count))
    if word == ORDINARY:
        content = ordinary_bytes(nbytes)
        address = ctypes.c_uint64(whole + BESIDE_BYTES)
        driver.call_driver("cuMemcpyHtoD_v2", address, content.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(nbytes))
    return GpuBlock(whole + BESIDE_BYTES, nbytes, words, held)


def find_overwrites(blocks: Sequence[GpuBlock], word: int) -> Iterator[Finding]:
    """A finding for each block that was written beside: the poison around it has changed."""
    good = np.full(BESIDE_BYTES // 4, (word + BESIDE) & 0xFFFFFFFF, np.uint32).view(np.uint8)
    for block in blocks:
        end = block.address + -(-block.nbytes // 4) * 4
        before = copy_from_gpu(block.address - BESIDE_BYTES, np.empty(BESIDE_BYTES, np.uint8)) != good
        behind = copy_from_gpu(end, np.empty(BESIDE_BYTES, np.uint8)) != good
        at = [*(np.flatnonzero(before) - BESIDE_BYTES), *(np.flatnonzero(behind) + (end - block.address))]
        yield from describe_overwrites(block.words, [int(one) for one in at], block.nbytes)
