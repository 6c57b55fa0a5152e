"""The arguments of a launch as the cpu device takes them: C++ with what it declares, values and arrays.

An array is memory and where it begins in it, so that views of one memory stay views of one array. Knows addresses and
bytes; it knows no language and no library of arrays.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Link, TensorMap
from kfuzz.devices.memory.layout import ALIGNED, OUTPUT
from kfuzz.devices.python.extensions import CALLS
from kfuzz.oracle.numbers.elements import ELEMENTS, F32, F64, U32, Element

WORD, MAP_WORDS = 8, 16
"""Bytes of a word of a parameter, and the words of a CUtensorMap."""
BYTE = next(one for one in ELEMENTS.values() if one.bytes == 1)
"""For memory of no whole elements."""


@dataclass(frozen=True)
class ArrayMemory:
    """The memory of arrays: where it begins, and how many bytes it has."""

    start: int
    nbytes: int

    def holds(self, address: int) -> bool:
        return self.start <= address < self.start + self.nbytes


OF_BITS = {F32: "::cuda_on_cpu::ptx_float_of_bits", F64: "::cuda_on_cpu::ptx_double_of_bits"}
"""The function of C++ that makes a float of its bits, by its type."""

FindAddresses = Callable[[NDArray[np.int64]], Iterator[tuple[int, ArrayMemory]]]
"""The places of words that are addresses of arrays, and the memory of each."""


@dataclass(frozen=True)
class Storage:
    """ArrayMemory as an array of a job."""

    name: str
    start: int
    nbytes: int
    element: Element

    @property
    def distance(self) -> int:
        """What kfuzz has lent lies where the claim says; a GPU's own memory begins at multiples of 256 or more."""
        return self.start % ALIGNED if self.start in CALLS.names else 0

    @property
    def memory(self) -> NDArray[np.uint8]:
        """Its bytes, where they are."""
        return np.ctypeslib.as_array((ctypes.c_ubyte * self.nbytes).from_address(self.start))

    def as_buffer(self) -> Buffer:
        """The array of a job; memory full of kfuzz's poison has no content yet."""
        whole = self.memory
        words = whole[: self.nbytes // 4 * 4].view("<u4")
        is_unset = bool(CALLS.word and len(words) and (words == np.uint32(CALLS.word + OUTPUT)).all())
        content = whole.view(self.element.dtype)
        held = None if is_unset else content
        return Buffer(self.name, self.element, content.shape, held, is_output=True, distance=self.distance)

    def put_back(self, left: NDArray[np.generic]) -> None:
        """Give the arrays what a launch has left."""
        now = left.reshape(-1).view(np.uint8)
        if not np.array_equal(now, self.memory):
            self.memory[...] = now


@dataclass
class LaunchArguments:
    """The arguments of a launch, in the order of the kernel's parameters."""

    texts: list[str] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    values: list[str | int] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    storages: dict[int, Storage] = field(default_factory=dict)
    """By their addresses."""
    links: list[Link] = field(default_factory=list)

    def add_array(self, name: str, memory: ArrayMemory, element: Element, address: int) -> None:
        """Add the address of a byte of some memory."""
        if not memory.nbytes:
            self.add_null()
            return
        held = self.store(name, memory, element)
        self._refer(held.name, address - held.start)

    def add_null(self) -> None:
        """Add an address of nothing."""
        self.texts.append("nullptr")

    def add_integers(self, values: Sequence[int]) -> None:
        """Add integers of any width."""
        for one in values:
            self.texts.append(self._declare("long long", "n"))
            self.values.append(one)

    def add_float(self, bits: int, element: Element) -> None:
        """Add a float by its bits: one of 32 or 64 bits is passed as such, others as integers."""
        at = self._declare("long long", "n")
        self.values.append(bits)
        self.texts.append(f"{OF_BITS[element]}({at})" if element in OF_BITS else at)

    def add_scratch(self, nbytes: int) -> None:
        """Add memory that only the kernel uses."""
        name = self._free_name("scratch")
        if not nbytes:
            self.add_null()
            return
        self.buffers[name] = Buffer(name, U32, (-(-nbytes // U32.bytes),))
        self._refer(name, 0)

    def add_map(self, name: str, memory: ArrayMemory, element: Element, address: int, made: TensorMap) -> None:
        """Add a tensor map of some memory, which is passed in words."""
        held = self.store(name, memory, element)
        described = self._free_name(f"{name}'s map")
        self.buffers[described] = Buffer(described, U32, (2 * MAP_WORDS,), np.zeros(2 * MAP_WORDS, np.uint32))
        self.links.append(Link(described, 0, held.name, address - held.start, made))
        array = self._declare("unsigned char *", "p")
        self.values.append(described)
        words = f"reinterpret_cast<const ::cuda_on_cpu::PtxParameter *>({array})"
        self.texts += [f"{words}[{number}]" for number in range(MAP_WORDS)]

    def store(self, name: str, memory: ArrayMemory, element: Element) -> Storage:
        """The array over this memory, which may be there."""
        if memory.start not in self.storages:
            chosen = self._free_name(CALLS.names.get(memory.start, name))
            fits = element.bytes and not memory.nbytes % element.bytes
            made = Storage(chosen, memory.start, memory.nbytes, element if fits else BYTE)
            self.storages[memory.start], self.buffers[chosen] = made, made.as_buffer()
        return self.storages[memory.start]

    def follow_addresses(self, find: FindAddresses) -> None:
        """Add the arrays whose addresses stand in arrays of integers; those are read and not written."""
        todo = list(self.storages.values())
        while todo:
            table = todo.pop()
            if table.element.is_float or table.element.bytes != WORD:
                continue
            words = table.memory.view(np.int64)
            for place, memory in find(words):
                if memory.start not in self.storages:
                    todo.append(self.store(f"{table.name}[{place}]", memory, U32))
                held = self.storages[memory.start]
                self.links.append(Link(table.name, WORD * place, held.name, int(words[place]) - held.start))
                self.buffers[table.name] = replace(self.buffers[table.name], is_output=False)

    def _refer(self, buffer: str, offset: int) -> None:
        """A pointer into an array."""
        array, at = self._declare("unsigned char *", "p"), self._declare("long long", "at")
        self.values += [buffer, offset]
        self.texts.append(f"{array} + {at}")

    def _declare(self, kind: str, letter: str) -> str:
        name = f"{letter}{len(self.declared)}"
        self.declared.append(f"{kind} {name}")
        return name

    def _free_name(self, name: str) -> str:
        return name if name not in self.buffers else self._free_name(f"{name}'")
