"""Tensors of which a byte holds two numbers, such as float4_e2m1fn_x2, and torch's product of them without a GPU.

A packed tensor has half as many elements along one axis as it has numbers: the axis whose step is 1. Knows torch's
tensors; it knows no trace.
"""

from typing import Any

import torch
from numpy.typing import NDArray

from kfuzz.devices.python.torch.elements import OF_TYPE, TYPES, as_array
from kfuzz.oracle.numbers.elements import E4M3, ELEMENTS, encode
from kfuzz.oracle.numbers.layout import Packing, element_slots, slot_count
from kfuzz.oracle.words.scaling import BLOCK, TILES

PACKED: dict[torch.dtype, Packing] = {
    getattr(torch, name): Packing(one, 2) for one in ELEMENTS.values() if hasattr(torch, name := f"{one.library}_x2")
}
"""torch's types of two numbers in a byte, the first one in the low bits."""
WHOLE = 16
"""torch takes rows of so many bytes, and so many columns, or multiples of them."""
LIBRARY = torch.library.Library("kfuzz", "DEF")


def is_packed(one: torch.Tensor) -> bool:
    """Whether each element of it is several numbers."""
    return one.dtype in PACKED


def storage_of(one: torch.Tensor) -> Packing:
    """How a tensor's numbers are stored."""
    return PACKED[one.dtype] if is_packed(one) else Packing(OF_TYPE[one.dtype])


def type_text(one: torch.Tensor) -> str:
    """The text of a view of bytes as what a packed tensor has, after the bytes' own; nothing for another tensor."""
    return f'.view("{str(one.dtype).removeprefix("torch.")}")' if is_packed(one) else ""


def packed_axis(one: torch.Tensor) -> int:
    """The axis along which a packed tensor has several numbers for each element."""
    return min(range(one.ndim), key=lambda axis: (one.stride(axis), one.shape[axis] == 1))


def numbers_in(packed: torch.Tensor, of: torch.Tensor, axis: int | None = None) -> torch.Tensor:
    """The view of `of`, which has a place for each number of a packed storage, that is a packed tensor's numbers."""
    axis = packed_axis(packed) if axis is None else axis % packed.ndim
    if packed.stride(axis) != 1 and packed.shape[axis] > 1:
        raise RuntimeError(f"the numbers of a {packed.dtype} lie along the axis whose step is 1, and not along {axis}")
    per = PACKED[packed.dtype].per
    sizes = [size * per if place == axis else size for place, size in enumerate(packed.shape)]
    steps = [1 if place == axis else step * per for place, step in enumerate(packed.stride())]
    return torch.as_strided(of, sizes, steps, packed.storage_offset() * per)


def unpack_storage(packed: torch.Tensor) -> torch.Tensor:
    """The numbers of a packed tensor's whole storage, in a row."""
    storage, row = PACKED[packed.dtype], (packed.untyped_storage().nbytes(),)
    whole = torch.as_strided(packed.view(torch.uint8), row, (1,), 0).long()
    bits = storage.element.bits
    codes = torch.stack([whole >> bits * place & (1 << bits) - 1 for place in range(storage.per)], dim=-1)
    return torch.from_numpy(storage.element.numbers).float()[codes.reshape(-1)]


def unpack(packed: torch.Tensor, axis: int | None = None) -> torch.Tensor:
    """The numbers of a packed tensor."""
    return numbers_in(packed, unpack_storage(packed), axis)


def as_numbers(one: torch.Tensor) -> NDArray[Any]:
    """A tensor's elements as a case holds them: each number of a packed one by itself."""
    if not is_packed(one):
        return as_array(one)
    element = PACKED[one.dtype].element
    return encode(element.round(unpack(one).double().numpy()), element)


def pack_numbers(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers that the type has as a packed tensor, whose last axis is half as long."""
    storage = PACKED[dtype]
    every = torch.from_numpy(storage.element.numbers).float()
    codes = (numbers.float().unsqueeze(-1) == every).int().argmax(-1).reshape(*numbers.shape[:-1], -1, storage.per)
    shifts = torch.tensor([1 << storage.element.bits * place for place in range(storage.per)])
    return (codes * shifts).sum(-1).to(torch.uint8).view(dtype)


def scaled_mm(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor, bias: torch.Tensor | None = None,
    scale_result: torch.Tensor | None = None, out_dtype: torch.dtype | None = None, use_fast_accum: bool = False,
) -> torch.Tensor:  # fmt: skip
    """torch._scaled_mm, which takes no packed matrices on a CPU: those go to `multiply_packed`, as one operation."""
    if not is_packed(a):
        return torch._scaled_mm(
            a, b, scale_a, scale_b, bias, scale_result, out_dtype=out_dtype, use_fast_accum=use_fast_accum
        )
    if bias is not None or scale_result is not None or out_dtype is None:
        raise RuntimeError(f"of {a.dtype} without a GPU: out_dtype is wanted, and neither bias nor scale_result")
    return torch.ops.kfuzz.scaled_mm(a, b, scale_a, scale_b, out_dtype)


def multiply_packed(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor, out_dtype: torch.dtype
) -> torch.Tensor:
    """A B, of rows of A and columns of B in blocks that each have a scale; the scales lie in tiles of 128 x 4."""
    if b.dtype != a.dtype or a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise RuntimeError(f"{list(a.shape)} of {a.dtype} and {list(b.shape)} of {b.dtype} cannot be multiplied")
    if a.shape[1] % WHOLE or b.shape[1] % WHOLE:
        raise RuntimeError(f"{list(a.shape)} and {list(b.shape)}: expected multiples of {WHOLE} behind the first size")
    left = scaled_rows(unpack(a, -1), scale_a)
    right = scaled_rows(unpack(b, 0).t(), scale_b)
    return (left @ right.t()).float().to(out_dtype)


def scaled_rows(numbers: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Rows of numbers, each block of them times its scale, in float64."""
    shape = (numbers.shape[0], -(-numbers.shape[1] // BLOCK))
    wanted = slot_count(shape, 1, TILES)
    if scales.dtype != TYPES[E4M3] or scales.numel() != wanted or not scales.is_contiguous():
        raise RuntimeError(
            f"scales of {list(numbers.shape)} numbers: expected {wanted} of {TYPES[E4M3]} in a row, "
            f"not {list(scales.shape)} of {scales.dtype}"
        )
    at = torch.from_numpy(element_slots(shape, 1, TILES))
    return numbers.double() * scales.reshape(-1).double()[at].repeat_interleave(BLOCK, dim=1)[:, : numbers.shape[1]]


LIBRARY.define("scaled_mm(Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, ScalarType out_dtype) -> Tensor")
LIBRARY.impl("scaled_mm", multiply_packed, "CPU")
