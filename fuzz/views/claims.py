"""What is said of a claim beside its kernel's text: what was read off it, and where the two disagree.

Knows kernels; no layout.
"""

from collections.abc import Iterator

from kfuzz.claims.kernel import Kernel


def claim_notes(kernel: Kernel) -> Iterator[str]:
    """A line for each; where they disagree, it begins with `warning`."""
    for said in kernel.rounding.read_off:
        value = said.value if said.value.startswith("[") else f'"{said.value}"'
        yield f"the claim leaves out {said.key}; read off the text: {said.key} = {value}, {said}"
    yield from (f"warning: {doubt}" for doubt in kernel.rounding.doubts)
