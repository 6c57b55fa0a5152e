"""Notes on a claim: what kfuzz read off the kernel's text, and where claim and text disagree.

Knows kernels; no layout.
"""

from collections.abc import Iterator

from kfuzz.claims.kernel import Kernel


def claim_notes(kernel: Kernel) -> Iterator[str]:
    """A line for each note; a disagreement begins with `warning`."""
    for one in kernel.rounding.read_off:
        value = one.value if one.value.startswith("[") else f'"{one.value}"'
        yield f"the claim leaves out {one.key}; read off the text: {one.key} = {value}, {one}"
    yield from (f"warning: {doubt}" for doubt in kernel.rounding.doubts)
