"""CuPy: arrays over kfuzz's memory; CuPy's allocations during a call have poison inside and around them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kfuzz.devices import ClaimError, Finding
from kfuzz.devices.python import gpu_memory
from kfuzz.devices.python.lending import BESIDE_BYTES, ReturnedArray
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late
from kfuzz.oracle.numbers.elements import NATIVE, Element

cupy = import_late("cupy")
MOST_BYTES = 64 << 20


class PoisonedMemory:
    """CuPy's allocations during a call, including its own temporaries."""

    def __init__(self, word: int) -> None:
        self.word = word
        self.blocks: list[gpu_memory.GpuBlock] = []

    def allocate(self, nbytes: int) -> Any:  # noqa: ANN401  a pointer of CuPy's
        """Memory for CuPy."""
        pool = cupy.get_default_memory_pool()
        if not 0 < nbytes <= MOST_BYTES:
            return pool.malloc(nbytes)
        held = pool.malloc(gpu_memory.guarded_size(nbytes))
        self.blocks.append(gpu_memory.poison_block(held.ptr, nbytes, self.word, f"an array of {nbytes} bytes", held))
        return held + BESIDE_BYTES

    def findings(self) -> Iterator[Finding]:
        """The writes beside these allocations."""
        yield from gpu_memory.find_overwrites(self.blocks, self.word)


class CupyArrays:
    """Arrays on the first GPU."""

    def lend(self, memory: LentArray, element: Element) -> object:
        """An array over the memory."""
        if not element.is_native and not element.is_narrow:
            raise ClaimError(f"CuPy has no {element}; claim another element type")
        return cupy.asarray(memory)  # of a narrow type its codes, as uint8

    def answer(self, value: object) -> ReturnedArray | None:
        """An array's elements, in the order of the current stream."""
        if not isinstance(value, cupy.ndarray):
            return None
        held = np.ascontiguousarray(cupy.asnumpy(value)).reshape(value.shape)
        element = str(NATIVE.get(held.dtype, held.dtype.name))
        return ReturnedArray(type(value).__name__, element, held, type(value) is cupy.ndarray, value.data.ptr)

    @contextmanager
    def watch(self, word: int) -> Iterator[PoisonedMemory]:
        """Put poison into all allocations."""
        made = PoisonedMemory(word)
        with cupy.cuda.using_allocator(made.allocate):
            yield made

    @contextmanager
    def stream(self) -> Iterator[int]:
        """A stream that does not wait for others."""
        made = cupy.cuda.Stream(non_blocking=True)
        with made:
            yield made.ptr


def lender(on_gpu: bool, guard_all: bool) -> CupyArrays:
    """CuPy's arrays, which lie in a GPU's memory."""
    return CupyArrays()


def probe(on_gpu: bool) -> None:
    """Compile and run one kernel."""
    (cupy.zeros(1) + 1).get()


LIBRARY = PythonLibrary(
    "cupy",
    ("cupy", "cupyx"),
    2,
    lender,
    arithmetic=Arithmetic(ftz=True),  # CuPy compiles with denormals flushed
    probe=probe,
    extra="cupy",
    needs_gpu=True,
)
