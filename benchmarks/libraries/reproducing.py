"""Writes a program of three lines that shows a wrong answer of a library's function, and runs it.

Knows functions; it knows neither trials nor oracles.
"""

import io
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.libraries.functions import Function


def shortest_program(
    one: Function, inputs: Mapping[str, NDArray[np.float64]], index: Sequence[int], got: float, device: str
) -> tuple[str, ...]:
    """Three lines that print the wrong answer, of the accused row or element alone if it is enough; none if none do.

    Where a function reads arrays of any strides, its answer may be wrong only if columns lie one after the other.
    """
    row = {role: array[index[0]][None] for role, array in inputs.items()}
    element = {role: np.asarray(array)[tuple(index)][None, None] for role, array in inputs.items() if array.ndim == 2}
    tries = [(inputs, tuple(index))]
    if one.shape != "channels":
        tries.insert(0, (row, (0, *index[1:])))
    if one.shape in ("number", "two", "logits"):
        tries.insert(0, (element, (0, 0)))
    orders = (False, True) if "strides" in one.of.words else (False,)
    programs = (one.program(arrays, at, device, by_columns) for by_columns in orders for arrays, at in tries)
    return next((program for program in programs if printed(program) == repr(got)), ())


def printed(program: tuple[str, ...]) -> str:
    """What a program prints, run in this process, where a library is imported once for all of its functions."""
    out = io.StringIO()
    try:
        with warnings.catch_warnings(action="ignore"):
            exec("\n".join(program), {"print": lambda value: out.write(repr(value))})  # noqa: S102  a program of this list
    except Exception as error:  # whatever a library raises: the program does not show the answer
        return repr(error)
    return out.getvalue()
