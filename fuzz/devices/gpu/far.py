"""Fields on a GPU: memory for one, taken while no other process has one, filled, looked at and given back.

Knows the driver through ctypes, in whatever context is current; it needs no pycuda.
"""

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from kfuzz.devices import DeviceError, Finding, Job, OutOfMemory, Untried
from kfuzz.devices.gpu import driver, graphs, machine_code
from kfuzz.devices.gpu.reserving import reserve
from kfuzz.devices.gpu.vast import HeldMemory
from kfuzz.devices.memory.far import VECTOR, FarArray, FarWrite, Slots, find_writes, slots_of, span_of
from kfuzz.devices.memory.layout import BESIDE, Bytes, initial_bytes, nbytes, offsets

CODE = Path(__file__).with_name("far.cu")
FUNCTION = "find_changed"
BLOCKS, THREADS = 2048, 512
OWN = 4
"""Slots for what a host function or a callable allocates itself."""
NOTHING = (1 << 64) - 1


class FarMemory(Protocol):
    """What a field needs of a GPU."""

    @property
    def place(self) -> str:
        """The GPU's place in this machine, which no other GPU shares."""

    def free(self) -> tuple[int, int]:
        """How many bytes of its memory are free, and how many there are."""

    def hold(self, nbytes: int) -> HeldMemory: ...

    def paint(self, address: int, words: int, word: int) -> None: ...

    def send(self, address: int, content: Bytes) -> None: ...

    def settle(self) -> None:
        """Wait for all work."""

    def find_changed(self, first: int, last: int, word: int) -> FarWrite | None:
        """The words of whole vectors in [first, last) that are not this one."""


@dataclass
class Field:
    """A field with a job's arrays in it. `arrays` grow by what the job allocates there itself."""

    memory: FarMemory
    held: HeldMemory
    word: int
    slots: Slots
    addresses: dict[str, int] = field(default_factory=dict)
    arrays: list[FarArray] = field(default_factory=list)

    def add(self, words: str, name: str, start: int, nbytes: int) -> None:
        """Note that an array lies here, whose bytes may change."""
        self.arrays.append(FarArray(words, name, start, start + nbytes))

    def allocate(self, nbytes: int, words: str) -> int | None:
        """The next slot for so many bytes; None if it does not take them or none is left."""
        place = len(self.arrays)
        if place == self.slots.count or nbytes > self.slots.most_bytes:
            return None
        self.add(words, "", self.slots[place], nbytes)
        return self.slots[place]

    @property
    def left(self) -> Slots:
        """The slots that are not taken."""
        taken = len(self.arrays)
        return Slots(self.slots[taken], self.slots.pitch, self.slots.count - taken)

    def find_writes(self) -> list[Finding]:
        """The writes outside all arrays."""
        end = self.held.base + self.held.size
        return list(find_writes(self.arrays, self.held.base, end, self._look))

    def _look(self, first: int, last: int) -> FarWrite | None:
        return self.memory.find_changed(first, last, self.word)


@contextlib.contextmanager
def open_field(memory: FarMemory, job: Job, seed: int, word: int, own: int = 0) -> Iterator[Field | Untried]:
    """A field in which a job's arrays lie, and so many free slots; or why there is none now.

    Only one process of a user has one at a time, and the others do not wait: it is a small part of what a trial does.
    """
    with reserve("field", memory.place) as is_alone:
        placed = [one for one in job.buffers if not one.is_returned]
        span = span_of(*memory.free()) if is_alone else 0
        slots = slots_of(0, span, len(placed) + own)
        if not is_alone:
            yield Untried.CARD_IN_USE
            return
        if not span or any(nbytes(one) > slots.most_bytes for one in placed):
            yield Untried.DOES_NOT_FIT
            return
        try:
            held = memory.hold(span)
        except OutOfMemory:
            yield Untried.DOES_NOT_FIT
            return
        made = Field(memory, held, word + BESIDE, slots_of(held.base, span, slots.count))
        try:
            memory.paint(held.base, held.size // 4, made.word)
            for place, (one, distance) in enumerate(zip(placed, offsets(job, seed), strict=False)):
                start = made.slots[place] + distance
                made.addresses[one.name] = start
                made.add(f"{one.name}, {one.element}[{', '.join(map(str, one.shape))}]", one.name, start, nbytes(one))
                if (content := initial_bytes(one)) is not None:
                    memory.send(start, content)
            memory.settle()
            yield made
        finally:
            with contextlib.suppress(DeviceError):  # if the context has ended, its memory is freed with the process
                held.close()


class CurrentGpu:
    """The GPU of the current context, as fields need it."""

    @property
    def place(self) -> str:
        return driver.place()

    def free(self) -> tuple[int, int]:
        return driver.free()

    def hold(self, nbytes: int) -> driver.OwnMemory:
        return driver.OwnMemory(nbytes)

    def paint(self, address: int, words: int, word: int) -> None:
        driver.paint(address, words, word, graphs.LEGACY_STREAM)

    def send(self, address: int, content: Bytes) -> None:
        if len(content):
            data = ctypes.c_void_p(content.ctypes.data)
            driver.call_driver("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(content)))

    def settle(self) -> None:
        driver.call_driver("cuCtxSynchronize")

    def find_changed(self, first: int, last: int, word: int) -> FarWrite | None:
        vectors = (last - first) // VECTOR
        answer = self._answer
        answer.write(np.array([NOTHING, 0, 0], np.uint64))
        given = graphs.pack_arguments((first, vectors, word, answer.address), (8, 8, 4, 8))
        grid, block = (min(BLOCKS, -(-vectors // THREADS)), 1, 1), (THREADS, 1, 1)
        function = self._functions.function(FUNCTION, 0)
        graphs.launch(function, grid, block, 0, given, ctypes.c_void_p(graphs.LEGACY_STREAM))
        self.settle()
        begin, end, words = map(int, answer.read(0, 24).view(np.uint64))
        if not words:
            return None
        (start, value), (stop, late) = self._changed_word(first + begin * VECTOR, word, 0), self._changed_word(
            first + end * VECTOR, word, -1
        )  # fmt: skip
        return FarWrite(start, value, stop, late, words)

    def _changed_word(self, address: int, word: int, which: int) -> tuple[int, int]:
        """The first or the last word of a vector that has changed: its address and what it is."""
        held = np.empty(VECTOR // 4, np.uint32)
        data = ctypes.c_void_p(held.ctypes.data)
        driver.call_driver("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(VECTOR))
        place = int(np.flatnonzero(held != np.uint32(word))[which])
        return address + 4 * place, int(held[place])

    @cached_property
    def _answer(self) -> graphs.DeviceBytes:
        return graphs.DeviceBytes(24)

    @cached_property
    def _functions(self) -> graphs.LoadedFunctions:
        text, architecture = CODE.read_text(encoding="utf-8"), driver.gpu().architecture
        return graphs.LoadedFunctions(machine_code.compile_kernel(CODE, text, (), (FUNCTION,), architecture).image)
