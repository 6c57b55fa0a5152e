"""A tensor core that adds products of 8 bits, simulated bit by bit."""

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.tensor_cores import WGMMA_FP8, Adder

F = np.float32
Doubles = NDArray[np.float64]


def exponents(x: Doubles, least: int) -> Doubles:
    return np.where(x == 0, -1000, np.maximum(np.frexp(x)[1] - 1, least))


def add_on_a_tensor_core(
    a: Doubles, b: Doubles, least: int, promote: int | None, order: NDArray[np.intp] | None = None,
    adder: Adder = WGMMA_FP8,
) -> NDArray[np.float32]:  # fmt: skip
    """A B by a simulated tensor core, step by step, in any order of the steps."""
    total, run = np.zeros((len(a), b.shape[1])), np.zeros((len(a), b.shape[1]))
    starts = np.arange(0, a.shape[1], adder.together)
    for count, first in enumerate(starts if order is None else starts[order], 1):
        left, right = a[:, first : first + adder.together], b[first : first + adder.together]
        product = left[:, :, None] * right
        e = (exponents(left, least)[:, :, None] + exponents(right, least)).max(
            axis=1, where=product != 0, initial=-1000
        )
        e = np.maximum(e, exponents(run, -126))
        unit = np.ldexp(1.0, np.maximum(e, -133).astype(int) - adder.kept)
        run = np.trunc(product / unit[:, None]).sum(axis=1) * unit + np.trunc(run / unit) * unit
        place = np.ldexp(1.0, np.frexp(run)[1] - adder.digits)
        run = np.trunc(run / place) * place
        if promote and count * adder.together % promote == 0:
            total, run = (total + run).astype(F).astype(np.float64), np.zeros_like(run)
    return (total + run).astype(F)
