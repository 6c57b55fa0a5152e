"""Notes on a claim: where the kernel's text disagrees with it, and what of its reference's inputs does not vary.

Knows kernels; no layout.
"""

from collections.abc import Iterator

from kfuzz.claims.kernel import Kernel


def claim_notes(kernel: Kernel) -> Iterator[str]:
    """A line for each."""
    yield from (f"warning: {doubt}" for doubt in kernel.rounding.doubts)
    if kernel.reference and kernel.reference.kept:
        yield kernel.reference.kept
