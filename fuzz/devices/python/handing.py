"""The arguments that Python passes to a CUDA function, as C++ takes them: arrays, numbers, and the call's text.

Knows how C++ writes arguments; it knows no library and runs nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer
from kfuzz.devices.tensors import contiguous_layout, layout_names
from kfuzz.oracle.numbers.elements import ELEMENTS, U32, Element

C_TYPES: dict[str, tuple[Element, str]] = {
    **{one.library: (one, one.torch.cpp) for one in ELEMENTS.values() if one.torch},
    "bool": (U32, "bool"), "uint8": (U32, "uint8_t"), "int8": (U32, "int8_t"), "int16": (U32, "int16_t"),
}  # fmt: skip
"""By torch's names: the element type of the device's array, and the type in the function's signature."""
ONE_WORD = 4


@dataclass(frozen=True)
class Tensor:
    """An array as a callable passes it: the memory from its first element to its last, and its sizes and strides."""

    dtype: str
    held: NDArray[np.generic]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    is_dense: bool


Argument = Tensor | None | bool | int | float | str | list["Argument"]


@dataclass
class CallArguments:
    """The arguments of one call as C++, their declarations, and their arrays."""

    texts: list[str] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    tensors: list[tuple[str, int]] = field(default_factory=list)
    args: list[str | int] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    places: list[tuple[Tensor, str]] = field(default_factory=list)
    """The tensors in the order of the arguments, each with the name of its array."""


def put_back(given: Tensor, left: NDArray[np.generic]) -> None:
    """Copy a function's result back into an array if the function has changed it."""
    before, now = given.held.reshape(-1), left.reshape(-1).view(np.uint8)[: given.held.nbytes]
    if not np.array_equal(before.view(np.uint8), now):
        before[...] = now.view(before.dtype)


def translate_arguments(
    parameters: Sequence[str], args: Sequence[Argument], named: Mapping[str, Argument], defaults: Mapping[str, str]
) -> CallArguments:
    """The arguments of a call, in the order of the function's parameters."""
    names = [name_of(one) for one in parameters]
    if unknown := [name for name in named if name not in names]:
        raise TypeError(f"incompatible function arguments: no parameter {unknown[0]}")
    if len(args) > len(names):
        raise TypeError(f"incompatible function arguments: {len(args)} given, {len(names)} taken")
    handed = CallArguments()
    given = {**dict(zip(names, args, strict=False)), **named}
    for name, parameter in zip(names, parameters, strict=True):
        if name in given:
            handed.texts.append(text_for(name, given[name], handed))
        elif name in defaults:
            handed.texts.append("c10::nullopt" if "none" in defaults[name].lower() else defaults[name])
        elif "=" not in parameter:
            raise TypeError(f"incompatible function arguments: {name} is missing")
        else:
            handed.texts.append(parameter.partition("=")[2].strip())
    if not handed.tensors:  # its results are only checked if it takes tensors
        text_for("no_tensor", Tensor("int32", np.zeros(1, np.int32), (1,), (1,), True), handed)
        handed.places.clear()
    return handed


def text_for(name: str, value: Argument, handed: CallArguments) -> str:
    """An argument as C++; numbers are passed as values, so that one text serves all of them."""
    if isinstance(value, list):
        inner = [text_for(f"{name}_{number}", one, handed) for number, one in enumerate(value)]
        kind = "at::Tensor" if any(isinstance(one, Tensor) for one in value) else "int64_t"
        kind = "double" if any(isinstance(one, float) for one in value) else kind
        return f"std::vector<{kind}>{{{', '.join(inner)}}}"
    if isinstance(value, Tensor):
        return tensor_for(name, value, handed)
    if value is None:
        return "c10::nullopt"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    handed.declared.append(f"long long {name}")
    if isinstance(value, float):
        handed.args.append(int(np.float64(value).view(np.int64)))
        return f"__builtin_bit_cast(double, {name})"
    if not -(1 << 63) <= value < 1 << 63:
        raise TypeError(f"incompatible function arguments: {value} has no 64 bits")
    handed.args.append(value)
    return name


def tensor_for(name: str, value: Tensor, handed: CallArguments) -> str:
    """A tensor as C++; an array that is passed twice is one tensor."""
    for other, known in handed.places:
        if other.held.ctypes.data == value.held.ctypes.data and (other.sizes, other.strides) == (
            value.sizes,
            value.strides,
        ):
            return known if value.is_dense else strided_text(known, len(value.sizes))
    element, kind = C_TYPES[value.dtype]
    sizes = value.sizes if value.is_dense else (len(value.held),)
    content = np.ascontiguousarray(value.held).reshape(-1)
    if element is U32:  # narrow elements travel as whole words
        whole = np.zeros(-(-content.nbytes // ONE_WORD) * ONE_WORD, np.uint8)
        whole[: content.nbytes] = content.view(np.uint8)
        content = whole.view(np.uint32)
    shape = content.shape if element is U32 or not value.is_dense else value.sizes
    handed.buffers[name] = Buffer(name, element, shape, content.view(element.dtype).reshape(shape), is_output=True)
    handed.declared += [f"{kind} *{name}_data", *(f"long long {part}" for part in layout_names(name, len(sizes)))]
    handed.args += [name, *contiguous_layout(sizes)]
    handed.tensors.append((name, len(sizes)))
    handed.places.append((value, name))
    if value.is_dense:
        return name
    for what, numbers in (("of", value.sizes), ("step", value.strides)):
        handed.declared += [f"long long {name}_{what}_{number}" for number in range(len(numbers))]
        handed.args += numbers
    return strided_text(name, len(value.sizes))


def strided_text(name: str, rank: int) -> str:
    """The C++ of a tensor whose elements are not contiguous."""
    sizes, steps = (", ".join(f"{name}_{what}_{number}" for number in range(rank)) for what in ("of", "step"))
    return f"{name}.as_strided({{{sizes}}}, {{{steps}}})"


def name_of(parameter: str) -> str:
    """The name of a parameter."""
    return re.findall(r"\w+", parameter.partition("=")[0])[-1] if parameter.strip() else ""
