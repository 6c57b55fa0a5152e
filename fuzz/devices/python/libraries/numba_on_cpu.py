"""Numba's compiler for the CPU, whose functions take numpy's arrays."""

from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late

numba = import_late("numba")


def probe(on_gpu: bool) -> None:
    """Compile a function and call it."""
    numba.njit(lambda: 1)()


LIBRARY = PythonLibrary(
    "numba.njit", ("numba",), 9, arrays="numpy", arithmetic=Arithmetic(exp=(5.04, 0.0)), probe=probe, extra="numba"
)
