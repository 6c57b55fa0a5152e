"""JAX on a CPU: its arrays never change, so it is handed copies. The only file that imports jax."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import DTYPES, Element, Finding
from kfuzz.devices.python.lending import ReturnedArray


class NoAllocations:
    """What XLA allocates nobody else sees."""

    def findings(self) -> Iterator[Finding]:
        """Nothing."""
        yield from ()


class JaxArrays:
    """Arrays on the CPU, in 64 bits where the claim says so."""

    def __init__(self) -> None:
        jax.config.update("jax_platforms", "cpu")

    def lend(self, memory: NDArray[np.generic], element: Element) -> object:
        """A copy."""
        if element == "f64":
            jax.config.update("jax_enable_x64", True)
        typed = memory.view(jnp.bfloat16) if element == "bf16" else memory
        return jnp.array(typed, copy=True)

    def answer(self, value: object) -> ReturnedArray | None:
        """An array's elements, once they are there."""
        if not isinstance(value, jax.Array):
            return None
        array = np.array(value, copy=True, order="C")
        names = {np.dtype(dtype): name for name, dtype in DTYPES.items() if name != "bf16"}
        element = "bf16" if array.dtype == jnp.bfloat16 else names.get(array.dtype, array.dtype.name)
        bits = array.view(DTYPES["bf16"]) if element == "bf16" else array
        return ReturnedArray(type(value).__name__, element, bits, True, 0)

    @contextmanager
    def watched(self, word: int) -> Iterator[NoAllocations]:
        """Nothing is poisoned."""
        yield NoAllocations()

    def settle(self) -> None:
        """An array is waited for when it is read."""


LENDER = JaxArrays()
