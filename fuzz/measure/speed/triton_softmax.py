"""Softmax in Triton, a program a row, as its tutorial has it: imported only where Triton is asked for."""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

LONGEST = 1 << 17
"""Elements of one row that a program may hold."""


@triton.jit  # type: ignore[untyped-decorator]
def softmax_row(y_ptr, x_ptr, cols, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """One row, held by one program."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + place, mask=place < cols, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * cols + place, e / tl.sum(e, axis=0), mask=place < cols)


def call(given: Mapping[str, Any]) -> Any:  # noqa: ANN401  torch has no types
    """The softmax of x, row by row."""
    x = given["x"]
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    if block > LONGEST:
        raise MemoryError("out of memory: a row is longer than what a program of Triton holds")
    y = x.new_empty(x.shape)
    warps = 4 if block < 2048 else 8 if block < 4096 else 16
    softmax_row[(rows,)](y, x, cols, BLOCK=block, num_warps=warps)
    return y
