"""Triton on a GPU: what the products of each kernel that it loads make of their operands. It changes nothing."""

from typing import Any, TypeAlias

from triton.compiler.compiler import CompiledKernel

from kfuzz.devices.cpu.ptx.products import operand_in_cuda
from kfuzz.devices.python.extensions import CALLS

LoadedKernel: TypeAlias = Any
"""A CompiledKernel; Triton has no types."""


def watch() -> None:
    """Note each kernel before its first launch."""
    load = CompiledKernel._init_handles

    def note_and_load(self: LoadedKernel) -> None:
        CALLS.operand = CALLS.operand or operand_in_cuda(str(self.asm.get("ptx", "")))
        load(self)

    CompiledKernel._init_handles = note_and_load
