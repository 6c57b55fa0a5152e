"""Triton's code of a Pallas kernel, as JAX lowers it, compiled by the Triton that is installed.

Knows Triton and the text of its code. JAX's releases write other bytes than Triton's read, so a text is passed on.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import triton
from triton.runtime import driver

from kfuzz.devices.python.triton.driver import compiled
from kfuzz.devices.python.triton.launches import Compiled

LoadedTriton: TypeAlias = Any
"""What Triton has compiled, which has no types."""
KEPT = 256
"""Kernels whose code is compiled, of the latest."""
DIVISIBLE = 32
"""Bytes: what JAX says that each array begins at a multiple of."""


@dataclass(frozen=True)
class TritonCode:
    """A launch as JAX has lowered it."""

    text: str
    """In MLIR's words, with the lines that it comes from."""
    grid: tuple[int, int, int]
    warps: int
    stages: int


@lru_cache(KEPT)
def compile_code(code: TritonCode, target: str) -> Compiled:
    """Compile a kernel for the GPU of this name, which the process imitates."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{target}.ttir"
        file.write_text(code.text, encoding="utf-8")
        options = {"num_warps": code.warps, "num_stages": code.stages}
        made: LoadedTriton = triton.compile(str(file), target=driver.active.get_current_target(), options=options)
    kernel = compiled(made.kernel.decode(), made.metadata, is_gluon=False)
    return replace(kernel, align=max(DIVISIBLE, kernel.align))
