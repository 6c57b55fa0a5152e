"""numpy: arrays over kfuzz's memory; np.empty and np.empty_like return poison while a callable runs."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import ClaimError, Finding
from kfuzz.devices.python.lending import PoisonedBlock, ReturnedArray, allocate_block, find_overwrites
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.devices.python.library import Arithmetic, PythonLibrary
from kfuzz.oracle.numbers.elements import Element, element_of_dtype

Args = ParamSpec("Args")
MOST_BYTES = 64 << 20


class PoisonedArrays:
    """The arrays that np.empty returned while a callable ran."""

    def __init__(self, word: int) -> None:
        self.word = word
        self.blocks: list[PoisonedBlock] = []

    def findings(self) -> Iterator[Finding]:
        """The writes beside these arrays."""
        yield from find_overwrites(self.blocks, self.word)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: str) -> NDArray[Any] | None:
        """An array full of poison; None for arrays of objects and very large ones."""
        nbytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        if dtype.hasobject or not 0 < nbytes <= MOST_BYTES:
            return None
        block = allocate_block(nbytes, self.word, f"an array of shape {list(shape)}")
        self.blocks.append(block)
        return block.body.view(dtype).reshape(shape, order="F" if order == "F" else "C")


class NumpyArrays:
    """numpy's own arrays. ml_dtypes has the element types that numpy lacks, such as bfloat16."""

    def __init__(self) -> None:
        self._active: PoisonedArrays | None = None
        # Before a callable's file can import them by name.
        for name in ("empty", "empty_like"):
            setattr(np, name, self._instead_of(getattr(np, name)))

    def lend(self, memory: LentArray, element: Element) -> object:
        """The memory itself."""
        assert memory.host is not None
        return memory.host if element.is_native else memory.host.view(type_of(element))

    def answer(self, value: object) -> ReturnedArray | None:
        """An array's elements; a numpy scalar is an array of one element."""
        if not isinstance(value, np.ndarray | np.generic):
            return None
        array = np.asarray(value)
        element = element_of_dtype(array.dtype)
        address = array.ctypes.data if isinstance(value, np.ndarray) else 0
        held = np.array(array, copy=True, order="C")
        bits = held.view(element.dtype) if element else held
        is_exact = type(value) is np.ndarray or isinstance(value, np.generic)
        return ReturnedArray(
            type(value).__name__, element.name if element else array.dtype.name, bits, is_exact, address
        )

    @contextmanager
    def watch(self, word: int) -> Iterator[PoisonedArrays]:
        """Put poison into what np.empty returns."""
        self._active = made = PoisonedArrays(word)
        try:
            yield made
        finally:
            self._active = None

    def stream(self) -> None:
        """numpy has none."""

    def _instead_of(self, real: Callable[Args, NDArray[Any]]) -> Callable[Args, NDArray[Any]]:
        """The same function, whose arrays are full of poison while a callable is watched."""

        @functools.wraps(real)
        def poisoned(*args: Args.args, **kwargs: Args.kwargs) -> NDArray[Any]:
            return self._instead(real(*args, **kwargs))

        return poisoned

    def _instead(self, real: NDArray[Any]) -> NDArray[Any]:
        if self._active is None or type(real) is not np.ndarray:
            return real
        order = "F" if real.flags.f_contiguous and not real.flags.c_contiguous else "C"
        if not (real.flags.c_contiguous or real.flags.f_contiguous):
            return real
        made = self._active.array(real.shape, real.dtype, order)
        return real if made is None else made


def type_of(element: Element) -> np.dtype[Any]:
    """The type of ml_dtypes, where numpy has none."""
    try:
        import ml_dtypes  # noqa: PLC0415  wanted by few, and not installed for all
    except ModuleNotFoundError:
        raise ClaimError(f"numpy has no {element}: pip install ml_dtypes, or claim another element type") from None
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, element.library))
    return found


def lender(on_gpu: bool, guard_all: bool) -> NumpyArrays:
    """numpy, whose arrays lie in the host's memory."""
    assert not on_gpu
    return NumpyArrays()


STATED = {"log": (7.66, 0.0), **dict.fromkeys(("exp2", "expm1", "log2", "log10", "log1p", "atan2"), (8.0, 0.0))}
"""numpy states 3.83 ulp for its float32 log and tests the others with 4: docs/numerics.md#numpy-on-a-cpu."""

LIBRARY = PythonLibrary(
    "numpy",
    ("numpy",),
    9,
    lender,
    arithmetic=Arithmetic(exp=(5.04, 0.0), functions=STATED),  # numpy states 2.52 ulp for its float32 exp
    in_host=True,
    forks_with_gpu=True,
    untimed="the host's memory",
)
