"""Warp's arrays over kfuzz's memory, on a GPU or in the host's memory, which passes for a GPU's."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import warp
from warp._src import types

from kfuzz.devices import ClaimError
from kfuzz.devices.python.launched.arguments import ArrayMemory
from kfuzz.devices.python.lending import ReturnedArray, UnseenAllocations
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.devices.python.libraries.numpy import NumpyArrays, PoisonedArrays
from kfuzz.devices.python.warp.launches import element_of
from kfuzz.devices.python.warp.memory import MEMORY
from kfuzz.oracle.numbers.elements import BF16, Element

GPU = "cuda:0"


class WarpArrays:
    """Arrays on the first GPU."""

    def lend(self, memory: LentArray, element: Element) -> object:
        """An array over the memory."""
        view: Any = memory if memory.host is None else memory.host
        seen = view.__cuda_array_interface__ if memory.host is None else view.__array_interface__
        return warp.array(
            ptr=memory.address,
            dtype=type_of(element),
            shape=seen["shape"],
            strides=seen.get("strides"),
            device=GPU,
            copy=False,
        )

    def answer(self, value: object) -> ReturnedArray | None:
        """An array's elements."""
        if not isinstance(value, warp.array):
            return None
        element = element_of(value.dtype)
        held = np.ascontiguousarray(value.numpy())
        is_exact = type(value) is warp.array or type(value).__module__.startswith("warp.")
        return ReturnedArray(
            type(value).__name__,
            element.name if element else str(value.dtype),
            held.view(element.dtype) if element else held,
            is_exact,
            int(value.ptr or 0),
        )

    @contextmanager
    def watch(self, word: int) -> Iterator[UnseenAllocations]:
        """Nothing is poisoned."""
        yield UnseenAllocations()

    def stream(self) -> None:
        """None: each launch names its own stream."""


class WarpHostArrays(WarpArrays):
    """Arrays in the host's memory that pass for those of a GPU; what a callable allocates is poisoned as numpy's is."""

    def __init__(self) -> None:
        self._numpy = NumpyArrays()

    def lend(self, memory: LentArray, element: Element) -> object:
        """An array over the memory."""
        made = super().lend(memory, element)
        assert memory.host is not None
        MEMORY.lend(ArrayMemory(memory.address, memory.host.nbytes), made)
        return made

    def watch(self, word: int) -> AbstractContextManager[PoisonedArrays]:  # type: ignore[override]  # both have findings
        """Put poison into what it allocates."""
        return self._numpy.watch(word)


def type_of(element: Element) -> Any:  # noqa: ANN401  a type of Warp
    """The type of an array's elements."""
    if element is BF16:
        return warp.bfloat16
    found = types.np_dtype_to_warp_type.get(element.dtype) if element.is_native else None
    if found is None:
        raise ClaimError(f"Warp has no {element}; claim another element type")
    return found
