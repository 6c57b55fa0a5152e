"""Notes on a kernel: where its text disagrees with its claim, what of its reference's inputs does not vary, and how its
products round where a reference leaves that open.

Knows kernels and results; no layout.
"""

from collections.abc import Iterator

from kfuzz.campaign.result import KernelResult
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.numbers.elements import E4M3, FORMATS
from kfuzz.oracle.numbers.tensor_cores import WGMMA_FP8


def claim_notes(kernel: Kernel) -> Iterator[str]:
    """A line for each."""
    yield from (f"warning: {doubt}" for doubt in kernel.rounding.doubts)
    yield from kernel.reference.kept.splitlines() if kernel.reference else ()


def notes_on(result: KernelResult) -> Iterator[str]:
    """The same, and the format to which its products round their operands."""
    yield from claim_notes(result.kernel)
    name = result.progress.operand
    if name == E4M3.name:
        yield f"its products of 8 bits are added by wgmma, which keeps {WGMMA_FP8.kept} bits of a term"
    elif name:
        words = f"its matrix products round their operands to {name.upper()} ({FORMATS[name].p - 1} bits)"
        is_triton = "tl.dot" in result.kernel.source
        yield words + ("; ask tl.dot for input_precision='ieee' to have float32" if is_triton else "")
