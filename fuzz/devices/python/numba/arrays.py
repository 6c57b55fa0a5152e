"""Arrays in the host's memory that are Numba's arrays of a GPU to a program."""

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import DTypeLike, NDArray

from kfuzz.devices.python.launched.arguments import ArrayMemory


class DeviceArray(np.ndarray[Any, np.dtype[Any]]):
    """An array as `numba.cuda` has them, with the memory that it was allocated in."""

    held: ArrayMemory | None

    def __array_finalize__(self, other: object) -> None:
        """A view lies in the memory of what it is a view of."""
        self.held = getattr(other, "held", None)

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: object = 0) -> NDArray[Any]:
        """A copy in the host's memory."""
        if ary is None:
            return np.array(self, copy=True, subok=False)
        np.copyto(ary, self)
        return ary

    def copy_to_device(self, ary: NDArray[Any], stream: object = 0) -> None:
        """Take other elements."""
        np.copyto(self, ary)

    def is_c_contiguous(self) -> bool:
        return bool(self.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        return bool(self.flags.f_contiguous)

    @property
    def alloc_size(self) -> int:
        """How many bytes of memory it has."""
        return self.nbytes

    @property
    def __cuda_array_interface__(self) -> Mapping[str, object]:
        return MappingProxyType({**self.__array_interface__, "version": 3})


def as_device_array(array: NDArray[Any]) -> DeviceArray:
    """An array, which is whole, as one of a GPU."""
    made = array.view(DeviceArray)
    first, end = byte_bounds(array)
    made.held = ArrayMemory(first, end - first)
    return made


def of_tensor(tensor: Any) -> DeviceArray:  # noqa: ANN401  torch may not be installed
    """A tensor of torch in its own memory."""
    kind = np.dtype(str(tensor.dtype).removeprefix("torch."))
    seen = SimpleNamespace(
        tensor=tensor,
        __array_interface__={
            "data": (tensor.data_ptr(), False),
            "shape": tuple(tensor.shape),
            "strides": tuple(one * kind.itemsize for one in tensor.stride()),
            "typestr": kind.str,
            "version": 3,
        },
    )
    return as_device_array(np.asarray(seen))


def is_tensor(value: object) -> bool:
    """Whether it is a tensor of torch, which says that it is on a GPU."""
    return hasattr(value, "data_ptr") and hasattr(value, "stride")


def make_device_array(shape: int | tuple[int, ...], dtype: DTypeLike, order: str = "C") -> DeviceArray:
    """A new array, whose elements have no values yet."""
    return as_device_array(np.empty(shape, dtype, order="F" if order == "F" else "C"))


def memory_of(array: NDArray[Any]) -> ArrayMemory:
    """The memory in which an array lies."""
    first, end = byte_bounds(array)
    held = getattr(array, "held", None)
    if held is not None and held.start <= first and end <= held.start + held.nbytes:
        return ArrayMemory(held.start, held.nbytes)
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    first, end = byte_bounds(root)
    return ArrayMemory(first, end - first)
