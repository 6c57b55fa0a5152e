"""Numba: device arrays over kfuzz's memory. kfuzz does not see a callable's allocations."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kfuzz.devices import ClaimError, Finding
from kfuzz.devices.python.lending import ReturnedArray
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.devices.python.library import PythonLibrary, import_late
from kfuzz.oracle.numbers.elements import NATIVE, Element

cuda = import_late("numba.cuda")


class UnseenAllocations:
    """Numba's allocations, which kfuzz does not see."""

    def findings(self) -> Iterator[Finding]:
        """Nothing."""
        yield from ()


class NumbaArrays:
    """Arrays on the first GPU."""

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
    def watch(self, word: int) -> Iterator[UnseenAllocations]:
        """Nothing is poisoned."""
        yield UnseenAllocations()

    def stream(self) -> None:
        """None: each launch names its own stream, and there is no current one."""


def lender(on_gpu: bool, guard_all: bool) -> NumbaArrays:
    """Numba's device arrays, which lie in a GPU's memory."""
    return NumbaArrays()


def store_one(array: Any) -> None:  # noqa: ANN401  an array of Numba's
    """The smallest kernel."""
    array[0] = 1


def probe(on_gpu: bool) -> None:
    """Compile and run one kernel."""
    array = cuda.device_array(1, np.float32)
    cuda.jit(store_one)[1, 1](array)
    array.copy_to_host()


LIBRARY = PythonLibrary(
    "numba", ("numba.cuda",), 3, lender, decorators=("cuda.jit",), probe=probe, extra="numba", needs_gpu=True
)
