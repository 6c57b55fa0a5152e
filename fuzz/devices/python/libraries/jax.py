"""JAX: its arrays never change, so it gets copies."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kfuzz.devices import Finding, UnsupportedError
from kfuzz.devices.python.lending import ReturnedArray
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late
from kfuzz.oracle.numbers.elements import F64, Element, element_of_dtype

jax, jnp = import_late("jax"), import_late("jax.numpy")


class NoAllocations:
    """XLA's allocations, which kfuzz cannot see."""

    def findings(self) -> Iterator[Finding]:
        """Nothing."""
        yield from ()


class JaxArrays:
    """JAX's arrays, in 64 bits if the claim asks for them."""

    def __init__(self, platform: str) -> None:
        jax.config.update("jax_platforms", platform)

    def lend(self, memory: LentArray, element: Element) -> object:
        """A copy."""
        if element is F64:
            jax.config.update("jax_enable_x64", True)
        held = memory.read()
        return jnp.array(held if element.is_native else held.view(getattr(jnp, element.library)), copy=True)

    def answer(self, value: object) -> ReturnedArray | None:
        """An array's elements, as soon as they are computed."""
        if not isinstance(value, jax.Array):
            return None
        array = np.array(value, copy=True, order="C")
        element = element_of_dtype(array.dtype)
        bits = array.view(element.dtype) if element else array
        return ReturnedArray(type(value).__name__, element.name if element else array.dtype.name, bits, True, 0)

    @contextmanager
    def watch(self, word: int) -> Iterator[NoAllocations]:
        """Nothing is poisoned."""
        yield NoAllocations()

    def stream(self) -> None:
        """None: kfuzz cannot see JAX's streams."""


def lender(on_gpu: bool, guard_all: bool) -> JaxArrays:
    """JAX on the first GPU, or on the CPU."""
    if on_gpu:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other processes need GPU memory too
    made = JaxArrays("cuda" if on_gpu else "cpu")
    try:
        jax.devices()
    except RuntimeError as error:
        raise UnsupportedError(f"this JAX has no GPU; use --device cpu: {' '.join(str(error).split())}") from None
    return made


def probe(on_gpu: bool) -> None:
    """Add two arrays."""
    np.asarray(jnp.zeros(1) + 1)


LIBRARY = PythonLibrary(
    "jax",
    ("jax",),
    1,
    lender,
    arithmetic=Arithmetic(ftz=True),  # XLA compiles with denormals flushed
    probe=probe,
    extra="jax",
    untimed="arrays that are copies",
)
