"""How tensor cores add products of 8 bits, by instruction: the bits that are kept, and how many terms meet at once.

`python -m benchmarks.tightness.gpu_hopper_tensor_cores` measures a row. Knows no claim.
docs/numerics.md#products-of-8-bits
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Adder:
    """Terms are cut, toward zero, `kept` bits below the largest exponent; a sum keeps `digits`, its first 1 included.

    `together`: how many products meet in one addition.
    """

    kept: int
    digits: int
    together: int


WGMMA_FP8 = Adder(13, 14, 32)
"""wgmma of e4m3 and e5m2, as measured on an H100; DeepSeek-V3's report and arXiv:2512.07004 say the same of Hopper."""
ADDERS = {"mma fp8": WGMMA_FP8}
"""By a claim's word for its accumulator. On Hopper mma.sync of e4m3 is "mma": two products of halves compute it."""
