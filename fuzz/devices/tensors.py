"""How a tensor travels to a host function: its array, then its sizes, its strides and its offset as integers.

Knows names and layouts; it knows no library of tensors.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate

TensorLayout = tuple[tuple[int, ...], tuple[int, ...], int]
"""Sizes, strides and offset, in elements."""


def layout_names(name: str, rank: int) -> list[str]:
    """The names of the integers that give a tensor's layout."""
    parts = [f"{name}_{what}_{axis}" for what in ("size", "stride") for axis in range(rank)]
    return [*parts, f"{name}_offset"]


def contiguous_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor whose elements lie one after another."""
    return tuple(accumulate((max(size, 1) for size in (1, *reversed(sizes[1:]))), lambda a, b: a * b))[: len(sizes)][
        ::-1
    ]


def contiguous_layout(sizes: Sequence[int]) -> tuple[int, ...]:
    """The integers of a tensor whose elements lie one after another from the beginning of its array."""
    return (*sizes, *contiguous_strides(sizes), 0)


def split_layout(name: str, rank: int, values: Mapping[str, str | int]) -> TensorLayout:
    """The layout of a tensor among the values of a call."""
    *numbers, offset = (int(values[one]) for one in layout_names(name, rank))
    return tuple(numbers[:rank]), tuple(numbers[rank:]), offset


def make_tensor(name: str, rank: int) -> str:
    """The C++ statement that makes a tensor from its array and its layout."""
    sizes, strides = (", ".join(f"{name}_{what}_{axis}" for axis in range(rank)) for what in ("size", "stride"))
    return f"::at::Tensor {name} = ::kfuzz_torch::tensor({name}_data, {{{sizes}}}, {{{strides}}}, {name}_offset); "
