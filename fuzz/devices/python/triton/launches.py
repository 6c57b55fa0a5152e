"""A launch of Triton as a job of the cpu device: the PTX of a kernel, and the memory of the tensors that it takes.

A tensor is a storage and where it begins in it, so that views of one storage stay views of one array. Knows what a
launch gives; it knows no version of Triton.
"""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from kfuzz.devices import Buffer, Call, ClaimError, Job, Step, UnsupportedError
from kfuzz.devices.cpu.ptx.module import read_module
from kfuzz.devices.memory.layout import OUTPUT
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.torch.elements import OF_TYPE, TYPES
from kfuzz.devices.python.torch.inline_extensions import Address
from kfuzz.oracle.numbers.elements import ELEMENTS, F32, F64, U32, Element

LANES = 32
ALIGNED = 16
"""Bytes: what Triton's compiler may rely on where it has seen it."""
FLOATS = {name: TYPES[one] for one in TYPES if one.is_float and one.triton for name in (one.triton, one.name)}
"""The types of a float argument, by Triton's names of today and before."""
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
CASTS = {name: one for one in (F32, F64) for name in (one.triton, one.name)}
"""The floats that a parameter has as such; others come as their bits."""
KernelValue: TypeAlias = Any
"""A value that a program gives a kernel."""


@dataclass(frozen=True)
class Compiled:
    """A kernel as Triton compiled it."""

    name: str
    text: str
    """Its PTX."""
    warps: int
    shared: int
    blocks: int
    """Of a cluster that run one program."""
    is_cooperative: bool
    scratch: tuple[int, ...]
    """Bytes of each block for the parameters after the program's own."""
    makes_pointers: bool


@dataclass(frozen=True)
class PassedValue:
    """An argument: its name, its type in Triton's words, and its value."""

    name: str
    type: str
    value: KernelValue


def flatten_arguments(signature: Mapping[str, KernelValue], values: Sequence[KernelValue]) -> Iterator[PassedValue]:
    """The arguments that are parameters of the compiled kernel, in their order."""
    for name, value in zip(signature, values, strict=True):
        yield from _flatten(name, signature[name], value)


def _flatten(name: str, signed: KernelValue, value: KernelValue) -> Iterator[PassedValue]:
    if isinstance(signed, tuple):
        for number, (inner, one) in enumerate(zip(signed, value, strict=True)):
            yield from _flatten(f"{name}[{number}]", inner, one)
    elif signed != "constexpr":
        yield PassedValue(name, str(signed), value)


@dataclass
class PassedArguments:
    """The arguments of a launch as the cpu device takes them: C++ with what it declares, values, and arrays."""

    texts: list[str] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    values: list[str | int] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    storages: dict[int, "Storage"] = field(default_factory=dict)
    """By their addresses."""

    def add(self, given: PassedValue) -> None:
        """Add an argument."""
        value = getattr(given.value, "base", given.value)
        value = value.item() if isinstance(value, np.generic) else value
        if given.type.startswith("tensordesc"):
            raise UnsupportedError(f"{given.name} is a tensor descriptor, which only a GPU takes")
        if isinstance(value, torch.Tensor):
            self._add_tensor(given.name, value)
        elif value is None:
            self.texts.append("nullptr")
        elif isinstance(value, bool | int | float) and not isinstance(value, Address):
            self._add_number(given.type, value)
        else:
            what = "an address" if isinstance(value, Address) else f"a {type(value).__name__}"
            raise UnsupportedError(f"{given.name} is {what}, which the cpu device does not take; use --device gpu")

    def add_scratch(self, nbytes: int) -> None:
        """Add memory that only the kernel uses."""
        name = self._free_name("scratch")
        if not nbytes:
            self.texts.append("nullptr")
            return
        self.buffers[name] = Buffer(name, U32, (-(-nbytes // U32.bytes),))
        self._refer(name, 0)

    def _add_tensor(self, name: str, value: KernelValue) -> None:
        memory = value.untyped_storage()
        start, nbytes = memory.data_ptr(), memory.nbytes()
        if not nbytes:
            self.texts.append("nullptr")
            return
        if start not in self.storages:
            chosen = self._free_name(CALLS.names.get(start, name))
            element = OF_TYPE.get(value.dtype, U32)
            fits = element.bytes and not (nbytes + start % ALIGNED) % element.bytes
            self.storages[start] = Storage(chosen, start, nbytes, element if fits else BYTE)
            self.buffers[chosen] = self.storages[start].as_buffer()
        held = self.storages[start]
        self._refer(held.name, value.data_ptr() - start + held.before)

    def _add_number(self, kind: str, value: float) -> None:
        at = self._declare("long long", "n")
        bits = _bits_of(kind, value)
        self.values.append(bits)
        cast = CASTS.get(kind)
        whole = f"(int){at}" if cast is F32 else at
        self.texts.append(f"__builtin_bit_cast({cast.c_type}, {whole})" if cast else at)

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


BYTE = next(one for one in ELEMENTS.values() if one.bytes == 1)
"""For memory of no whole elements."""


@dataclass(frozen=True)
class Storage:
    """The memory of tensors."""

    name: str
    start: int
    nbytes: int
    element: Element

    @property
    def before(self) -> int:
        """Bytes in front of it, so that what is aligned there is aligned here."""
        return self.start % ALIGNED

    @property
    def memory(self) -> NDArray[np.uint8]:
        """Its bytes, where they are."""
        return np.ctypeslib.as_array((ctypes.c_ubyte * self.nbytes).from_address(self.start))

    def as_buffer(self) -> Buffer:
        """The array of a job; memory full of kfuzz's poison has no content yet."""
        whole = self.memory
        words = whole[: self.nbytes // 4 * 4].view("<u4") if not self.before else whole[:0].view("<u4")
        is_unset = bool(CALLS.word and len(words) and (words == np.uint32(CALLS.word + OUTPUT)).all())
        if self.before:
            whole = np.concatenate([np.zeros(self.before, np.uint8), whole])
        content = whole.view(self.element.dtype)
        return Buffer(self.name, self.element, content.shape, None if is_unset else content, is_output=True)

    def put_back(self, left: NDArray[np.generic]) -> None:
        """Give the tensors what a launch has left."""
        now = left.reshape(-1).view(np.uint8)[self.before :]
        if not np.array_equal(now, self.memory):
            self.memory[...] = now


def _bits_of(kind: str, value: float) -> int:
    """A number as the bits of its parameter."""
    if (dtype := FLOATS.get(kind)) is None:
        bits = int(value)
        return bits - (1 << 64) if bits >= 1 << 63 else bits
    number = torch.tensor(value, dtype=torch.float64).to(dtype)
    return int(number.view(BITS[number.element_size()]).item())


def launch(kernel: Compiled, grid: tuple[int, int, int], given: Sequence[PassedValue]) -> None:
    """Run a launch on the cpu device, and leave its results in the tensors."""
    with torch._C.DisableTorchFunction():
        try:
            if kernel.makes_pointers:
                raise UnsupportedError(f"{kernel.name} makes pointers of integers, which only a GPU runs")
            made = PassedArguments()
            for one in given:
                made.add(one)
            left = CALLS.run(_job_of(kernel, grid, made))
        except ClaimError as error:
            CALLS.trouble = error
            raise
        for held in made.storages.values():
            held.put_back(left[held.name])


def _job_of(kernel: Compiled, grid: tuple[int, int, int], made: PassedArguments) -> Job:
    function = read_module(kernel.text).function(kernel.name)
    assert function is not None, "Triton compiled it"
    more = len(function.parameters) - len(made.texts)
    for one in (*kernel.scratch, *(0 for _ in range(more)))[:more]:
        made.add_scratch(one * prod(grid) * kernel.blocks)
    entry = Call(kernel.name, tuple(made.texts), tuple(made.declared))
    cluster = (kernel.blocks, 1, 1) if kernel.blocks > 1 else ()
    step = Step(
        entry,
        (grid[0] * kernel.blocks, grid[1], grid[2]),
        (LANES * kernel.warps, 1, 1),
        kernel.shared,
        tuple(made.values),
        cluster,
        kernel.is_cooperative,
    )
    path = CALLS.file.with_name(f"{kernel.name}.ptx")
    buffers = tuple(made.buffers.values())
    return Job(kernel.name, path, kernel.text, (), ALIGNED, buffers, (step,), (entry,), through="ptx", is_tiled=True)
