"""Numba: device arrays over our memory. What a callable allocates is not seen. The only file that imports numba."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numba import cuda

from kfuzz.callables.lending import ReturnedArray
from kfuzz.callables.memory import LentArray
from kfuzz.devices import ClaimError, Finding, UnsupportedError
from kfuzz.oracle.elements import NATIVE, Element


class UnseenAllocations:
    """What Numba allocates is its own."""

    def findings(self) -> Iterator[Finding]:
        """Nothing."""
        yield from ()


class NumbaArrays:
    """Arrays on the first card."""

    def lend(self, memory: LentArray, element: Element) -> object:
        """An array over the memory."""
        if not element.is_native:
            raise ClaimError(f"Numba has no {element}; claim another element type")
        return cuda.as_cuda_array(memory, sync=False)

    def answer(self, value: object) -> ReturnedArray | None:
        """An array's elements."""
        if not cuda.is_cuda_array(value):
            return None
        held = np.ascontiguousarray(cuda.as_cuda_array(value).copy_to_host())
        is_exact = type(value).__module__.startswith("numba.")
        address = int(value.__cuda_array_interface__["data"][0])  # type: ignore[attr-defined]  # it was just asked for
        return ReturnedArray(
            type(value).__name__, str(NATIVE.get(held.dtype, held.dtype.name)), held, is_exact, address
        )

    @contextmanager
    def watched(self, word: int) -> Iterator[UnseenAllocations]:
        """Nothing is poisoned."""
        yield UnseenAllocations()

    def stream(self) -> None:
        """Each launch names its own; none is the current one."""


@functools.cache
def lender(is_card: bool) -> NumbaArrays:
    """Numba's device arrays, which lie on a card."""
    if not is_card:
        raise UnsupportedError("arrays of numba.cuda need a GPU: --device gpu, on a machine that has one")
    return NumbaArrays()
