"""The arguments of a launch from their bytes, as a driver gets them: each parameter's place in the host's memory.

Only the kernel knows what the bytes mean: a word that it loads whole, and that is the address of a tensor, is that
array. Knows PTX's parameters and addresses; it knows no language.
"""

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import TensorMap, UnsupportedError
from kfuzz.devices.cpu.ptx.module import read_module
from kfuzz.devices.cpu.ptx.variables import PtxVariable
from kfuzz.devices.python.launched.arguments import MAP_WORDS, WORD, ArrayMemory, LaunchArguments
from kfuzz.devices.python.launched.map_bits import decode_map
from kfuzz.oracle.numbers.elements import F32, F64, Element

FLOATS = {one.name: one for one in (F32, F64)}  # as PTX names them, too
MAP_BYTES, MAP_ALIGNED = MAP_WORDS * WORD, 64
"""A structure of this size that is aligned so is a tensor map."""
MARK = b"kfuzz map"
LARGEST_SIZE, LARGEST_ADDRESS = 1 << 32, 1 << 47
KEPT_KERNELS = 64


class KnownMemory(Protocol):
    """The memory that a program may hand to a launch by its address."""

    def find(self, address: int) -> ArrayMemory | None:
        """The memory in which an address lies."""

    def element_of(self, memory: ArrayMemory) -> Element:
        """The type of its elements."""


class TabledMemory(KnownMemory, Protocol):
    """Memory whose addresses may stand in arrays, too."""

    def find_in(self, words: NDArray[np.int64]) -> Iterator[tuple[int, ArrayMemory]]:
        """The places of words that are addresses, and the memory of each."""


@dataclass
class EncodedMaps:
    """The tensor maps that a program has encoded: bytes of ours stand for each."""

    made: dict[bytes, tuple[int, TensorMap]] = field(default_factory=dict)

    def encode(self, address: int, made: TensorMap) -> bytes:
        """The bytes of a map of the tensor at this address."""
        mark = MARK + len(self.made).to_bytes(MAP_BYTES - len(MARK), "little")
        self.made[mark] = address, made
        return mark


@dataclass(frozen=True)
class PackedParameter:
    """A parameter of a kernel, and where in it the kernel loads words that may be addresses."""

    variable: PtxVariable
    wide: frozenset[int]

    @property
    def is_map(self) -> bool:
        return self.variable.is_array and self.variable.align >= MAP_ALIGNED and self.variable.bytes == MAP_BYTES


@lru_cache(maxsize=KEPT_KERNELS)
def parameters_of(text: str, name: str) -> tuple[PackedParameter, ...]:
    """The parameters of a kernel."""
    module = read_module(text)
    function = module.function(name)
    assert function is not None, "its compiler named it"
    body = module.text[function.body] if function.body else ""
    return tuple(PackedParameter(one, frozenset(_find_wide_loads(one, body))) for one in function.parameters)


def _find_wide_loads(one: PtxVariable, body: str) -> Iterator[int]:
    """Where a parameter is loaded by words of eight bytes: the host leaves anything in what only fills a structure."""
    name = re.escape(one.name)
    loads = re.compile(rf"\bld\.param\S*?(?:\.v(\d))?\.[a-z](\d+)\s[^\[;]*\[\s*{name}\s*(?:\+\s*(\d+)\s*)?\]")
    for count, bits, at in loads.findall(body):
        if int(bits) == 8 * WORD:
            yield from range(int(at or 0), int(at or 0) + WORD * int(count or 1), WORD)
    if re.search(rf"(?<![\w$]){name}(?![\w$])", loads.sub("", body)):  # its address is taken: it may load all of it
        yield from range(0, one.bytes, WORD)


def unpack_arguments(
    text: str, name: str, places: Sequence[int], maps: EncodedMaps, known: KnownMemory, names: Sequence[str] = ()
) -> LaunchArguments:
    """The arguments of a launch of this kernel; `places` has the address of each, `names` are those that it has."""
    made = LaunchArguments()
    every = (*names, *(f"argument {number}" for number in range(len(names) + 1, len(places) + 1)))
    for called, one, place in zip(every, parameters_of(text, name), places, strict=True):
        given, kind = ctypes.string_at(place, one.variable.bytes), one.variable.type
        if one.is_map:
            _add_map(made, called, maps.made.get(given) or decode_map(given), known)
            continue
        if kind in FLOATS and not one.variable.is_array:
            made.add_float(int.from_bytes(given, "little"), FLOATS[kind])
            continue
        for at in range(0, len(given), WORD):
            _add_word(made, called, given[at : at + WORD], known if at in one.wide else None)
    return made


def _add_map(made: LaunchArguments, name: str, encoded: tuple[int, TensorMap] | None, known: KnownMemory) -> None:
    if encoded is None:
        what = f"{name} of a launch is a tensor map (TMA) in the bits of a GPU"
        raise UnsupportedError(f"{what}, which the cpu device does not read; use --device gpu")
    address, about = encoded
    if (memory := known.find(address)) is None:
        raise _unknown_address(name)
    made.add_map(name, memory, known.element_of(memory), address, about)


def _unknown_address(name: str) -> UnsupportedError:
    return UnsupportedError(f"{name} of a launch is an address of memory that is no tensor's; use --device gpu")


def _add_word(made: LaunchArguments, name: str, given: bytes, known: KnownMemory | None) -> None:
    """Add a word, which may be an address of known memory."""
    value = int.from_bytes(given, "little")
    memory = known.find(value) if known is not None else None
    if known is not None and memory is not None:
        made.add_array(name, memory, known.element_of(memory), value)
    elif known is not None and _is_in_memory(value):
        raise _unknown_address(name)
    else:
        made.add_integers([value - (1 << 64) if value >= 1 << 63 else value])


def _is_in_memory(value: int) -> bool:
    """Whether a number is the address of a byte that this process has."""
    if not LARGEST_SIZE <= value < LARGEST_ADDRESS:
        return False
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        start, _, end = line.split(maxsplit=1)[0].partition("-")
        if int(start, 16) <= value < int(end, 16):
            return True
    return False
