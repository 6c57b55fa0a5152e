"""Numba: device arrays over kfuzz's memory. On a GPU kfuzz does not see a callable's allocations.

Without a GPU the arrays lie in the host's memory, and the cpu device runs the PTX that Numba compiles (numba/).
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from kfuzz.devices import ClaimError
from kfuzz.devices.python.lending import Lender, ReturnedArray, UnseenAllocations
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.devices.python.libraries.numpy import NumpyArrays, PoisonedArrays
from kfuzz.devices.python.library import PythonLibrary, import_late
from kfuzz.oracle.numbers.elements import NATIVE, Element

cuda = import_late("numba.cuda")
numba = import_late("numba")
driver = import_late("kfuzz.devices.python.numba.driver")
arrays = import_late("kfuzz.devices.python.numba.arrays")


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


class HostArrays:
    """Arrays in the host's memory that pass for those of a GPU; what a callable allocates is poisoned as numpy's is."""

    def __init__(self) -> None:
        self._numpy = NumpyArrays()

    def lend(self, memory: LentArray, element: Element) -> object:
        """An array over the memory."""
        if not element.is_native:
            raise ClaimError(f"Numba has no {element}; claim another element type")
        return arrays.as_device_array(memory.host)

    def answer(self, value: object) -> ReturnedArray | None:
        """An array's elements."""
        found = self._numpy.answer(value)
        return replace(found, is_exact=True) if found and isinstance(value, arrays.DeviceArray) else found

    def watch(self, word: int) -> AbstractContextManager[PoisonedArrays]:
        """Put poison into what it allocates."""
        return self._numpy.watch(word)

    def stream(self) -> None:
        """None: there is no current one."""


def lender(on_gpu: bool, guard_all: bool) -> Lender:
    """Numba's device arrays."""
    return NumbaArrays() if on_gpu else HostArrays()


def install() -> None:
    """Let the cpu device run what Numba launches."""
    driver.install()


def store_one(array: Any) -> None:  # noqa: ANN401  an array of Numba's
    """The smallest kernel."""
    array[0] = 1


def probe(on_gpu: bool) -> None:
    """Compile and run one kernel; without a GPU its compiler must be there."""
    if not on_gpu:
        cuda.compile(store_one, (numba.float32[:],), cc=(9, 0), device=False, abi="numba", output="ptx")
        return
    array = cuda.device_array(1, np.float32)
    cuda.jit(store_one)[1, 1](array)
    array.copy_to_host()


LIBRARY = PythonLibrary(
    "numba",
    ("numba.cuda",),
    3,
    lender,
    takes_torch=True,
    decorators=("cuda.jit",),
    probe=probe,
    of_gpu=("numba.cuda.cudadrv",),
    of_releases=("numba.cuda",),
    extra="numba",
    run_without_gpu=install,
)
