"""The tensors of a task's data: how they lie in memory, which hold scales, and which repeat another one in tiles.

Knows torch's tensors; it does not know what reads them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import torch

from kfuzz.claims.references.torch.declared import CannotError
from kfuzz.claims.references.torch.task_data import order_in_memory
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.devices.python.torch.packed import is_packed, storage_of, unpack
from kfuzz.oracle.numbers.layout import element_slots, slot_count
from kfuzz.oracle.words.scaling import TILES

ONE_AND_ONE = 0x22
"""A byte of two numbers of e2m1 that are 1."""


class HasTensors(Protocol):
    """The tensors of one test, by name."""

    @property
    def tensors(self) -> Mapping[str, torch.Tensor]: ...


def is_dense(one: torch.Tensor) -> bool:
    """Whether its elements fill a stretch of memory, in some order of its axes."""
    return bool(one.permute(order_in_memory(one)).is_contiguous())


def shape_in_memory(one: torch.Tensor, order: Iterable[int]) -> tuple[int, ...]:
    """The sizes of a tensor's axes in this order, of which the last lies closest; a packed one has several numbers."""
    sizes = [one.shape[axis] for axis in order]
    return (*sizes[:-1], sizes[-1] * storage_of(one).per) if is_packed(one) else tuple(sizes)


def holds_scales(one: torch.Tensor) -> bool:
    """Whether it holds floats of a narrow type of which none is negative: beside packed numbers these are scales."""
    element = OF_TYPE.get(one.dtype)
    return element is not None and element.is_float and element.is_narrow and bool((one.float() >= 0).all())


def filled(one: torch.Tensor, number: float) -> torch.Tensor:
    """A tensor of the same kind that holds one number, or, of a packed type without a NaN, another one."""
    if is_packed(one):
        return torch.full_like(one.view(torch.uint8), ONE_AND_ONE if number == 1 else 0).view(one.dtype)
    return torch.full_like(one, number)


def is_filled(one: torch.Tensor) -> bool:
    """Whether it holds nothing but 1."""
    return bool(((unpack(one) if is_packed(one) else one) == 1).all())


def in_memory(one: torch.Tensor) -> torch.Tensor:
    """The bits of a dense tensor as they lie in memory, in a row."""
    return one.permute(order_in_memory(one)).contiguous().view(torch.uint8).reshape(-1)


def is_in_tiles(one: torch.Tensor, of: torch.Tensor) -> bool:
    """Whether a tensor holds the bytes of another one in tiles, by that one's last two axes in memory."""
    if one.dtype != of.dtype or one.element_size() != 1 or is_packed(of) or of.ndim < 2 or not is_dense(one):
        return False
    shape = shape_in_memory(of, order_in_memory(of))
    if one.numel() != slot_count(shape, 1, TILES):
        return False
    at = torch.from_numpy(element_slots(shape, 1, TILES)).reshape(-1)
    return bool(torch.equal(in_memory(one)[at], in_memory(of)))


def check_tiles(tiled: Mapping[str, str], orders: Mapping[str, Sequence[int]], every: Sequence[HasTensors]) -> None:
    """Raise a CannotError if a tensor repeats another one at some sizes alone.

    Where an axis has one element, the order of the axes in memory says little: it is that of the largest sizes.
    """
    for name, of in tiled.items():
        for one in every:
            in_order = one.tensors[name].permute(tuple(orders[name]))
            if not in_order.is_contiguous() or not is_in_tiles(in_order, one.tensors[of]):
                raise CannotError(f"the reference does not read {name}, which is {of} in tiles at some sizes alone")
