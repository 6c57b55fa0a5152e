"""The arguments of a launch of Triton: tensors, descriptors of tensors, numbers, and addresses of tensors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import torch

from kfuzz.devices import TensorMap, UnsupportedError
from kfuzz.devices.python.launched.arguments import ArrayMemory, LaunchArguments
from kfuzz.devices.python.torch.addresses import ADDRESSES
from kfuzz.devices.python.torch.elements import OF_TYPE, TYPES
from kfuzz.oracle.numbers.elements import I64, U32, Element

FLOATS = {name: one for one in TYPES if one.is_float and one.triton for name in (one.triton, one.name)}
"""The types of a float argument, by Triton's names of today and before."""
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
WIDE = (I64.name, "u64")
"""Integers that may be addresses."""
MAPPED = {**{number: number for number in range(8)}, 9: 8, 10: 9}
"""The types of CUtensorMap by Triton's numbers, which are those of PTX; the cpu device lacks the others."""
KernelValue: TypeAlias = Any
"""A value that a program gives a kernel, or what Triton says of one."""


@dataclass(frozen=True)
class PassedValue:
    """An argument: its name, its type in Triton's words, and its value."""

    name: str
    type: str
    value: KernelValue
    about: KernelValue = None
    """Of a tensor descriptor: what Triton says of the boxes that the kernel copies; None if it copies none by it."""


def flatten_arguments(
    signature: Mapping[str, KernelValue], values: Sequence[KernelValue], descriptors: Sequence[KernelValue]
) -> Iterator[PassedValue]:
    """The arguments that are parameters of the compiled kernel, in their order."""
    left = list(descriptors)
    for name, value in zip(signature, values, strict=True):
        for one in _flatten(name, signature[name], value):
            is_described = one.type.startswith("tensordesc") and left
            yield replace(one, about=left.pop(0)) if is_described else one


def _flatten(name: str, signed: KernelValue, value: KernelValue) -> Iterator[PassedValue]:
    if isinstance(signed, tuple):
        for number, (inner, one) in enumerate(zip(signed, value, strict=True)):
            yield from _flatten(f"{name}[{number}]", inner, one)
    elif signed != "constexpr":
        yield PassedValue(name, str(signed), value)


@dataclass
class TritonArguments:
    """The arguments of a launch, one after another."""

    makes_pointers: bool
    """Whether the kernel makes pointers of integers."""
    made: LaunchArguments = field(default_factory=LaunchArguments)
    has_address: bool = False
    """Whether an integer was the address of a tensor."""

    def add(self, given: PassedValue) -> None:
        """Add an argument."""
        if given.type.startswith("tensordesc"):
            self._add_descriptor(given)
            return
        value = getattr(given.value, "base", given.value)
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, torch.Tensor):
            self._add_tensor(given.name, value)
        elif value is None:
            self.made.add_null()
        elif isinstance(value, bool | int | float):
            self._add_number(given, value)
        else:
            what = f"{given.name} is a {type(value).__name__}, which the cpu device does not take"
            raise UnsupportedError(f"{what}; use --device gpu")

    def follow_addresses(self) -> None:
        """Add the arrays whose addresses stand in arrays of integers, if the kernel makes pointers of these."""
        if self.makes_pointers:
            self.made.follow_addresses(ADDRESSES.find_in)
            self.has_address = self.has_address or any(one.map is None for one in self.made.links)

    def _add_descriptor(self, given: PassedValue) -> None:
        """The map of a descriptor's tensor, or the tensor with its sizes; and, in both cases, its sizes once more."""
        held, about = given.value, given.about
        sizes, strides = [int(one) for one in held.shape], [int(one) for one in held.strides]
        is_padded_with_nan = getattr(held, "padding", "zero") == "nan"
        if about is None:
            self._add_tensor(given.name, held.base)
            self.made.add_integers([*sizes, *strides, int(is_padded_with_nan)])
        elif (kind := MAPPED.get(about["elem_type"])) is None or about.get("is_im2col"):
            what = "packed numbers" if kind is None else "images"
            raise UnsupportedError(f"{given.name} is a tensor descriptor of {what}, which only a GPU takes")
        else:
            nbytes = int(about["elem_size"])
            steps = tuple(one * nbytes for one in reversed(strides[:-1]))
            box = tuple(int(one) for one in reversed(about["block_size"]))
            made = TensorMap(kind, tuple(reversed(sizes)), steps, box, int(about["swizzle"]), int(is_padded_with_nan))
            memory, element = _memory_of(held.base), _element_of(held.base)
            self.made.add_map(given.name, memory, element, held.base.data_ptr(), made)
        self.made.add_integers([*sizes, *strides])

    def _add_tensor(self, name: str, value: KernelValue) -> None:
        self.made.add_array(name, _memory_of(value), _element_of(value), value.data_ptr())

    def _add_number(self, given: PassedValue, value: float) -> None:
        is_address = self.makes_pointers and given.type in WIDE
        memory = ADDRESSES.find(int(value)) if is_address else None
        if memory is not None:
            self.made.add_array(given.name, memory, U32, int(value))
            self.has_address = True
        elif (element := FLOATS.get(given.type)) is not None:
            number = torch.tensor(value, dtype=torch.float64).to(TYPES[element])
            self.made.add_float(int(number.view(BITS[number.element_size()]).item()), element)
        else:
            bits = int(value)
            self.made.add_integers([bits - (1 << 64) if bits >= 1 << 63 else bits])


def _memory_of(tensor: KernelValue) -> ArrayMemory:
    held = tensor.untyped_storage()
    return ArrayMemory(held.data_ptr(), held.nbytes())


def _element_of(tensor: KernelValue) -> Element:
    return OF_TYPE.get(tensor.dtype, U32)
