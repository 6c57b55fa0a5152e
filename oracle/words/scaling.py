"""Products of matrices whose numbers have scales: each block of a row its own, in tiles as a GPU takes them.

Knows words; it knows no number system.
"""

from kfuzz.oracle.numbers.layout import Layout, element_slots
from kfuzz.oracle.systems.value import Quantity, System

TILES = Layout(tiles=True)
BLOCK = 16
"""The numbers along a row that share a scale, of nvfp4."""


def matmul_of_blocks(N: System, a: Quantity, b: Quantity, scale_a: Quantity, scale_b: Quantity, sum: str) -> Quantity:
    """A B, of rows of A and columns of B in blocks that each have a scale; the scales are rows, in tiles of 128 x 4.

    A kernel may also add the products of a block first, and then scale: of nvfp4 such a sum is exact, and so is its
    product with both scales.
    """
    return N.matmul(_scaled(N, a, scale_a), _scaled(N, b.T, scale_b).T, sum)


def _scaled(N: System, a: Quantity, scale: Quantity) -> Quantity:
    rows, width = a.shape  # a whole number of blocks
    at = element_slots((rows, width // BLOCK), 1, TILES)
    scaled = a.reshaped(rows, -1, BLOCK) * scale.reshaped(-1)[at].reshaped(rows, -1, 1)
    return scaled.reshaped(rows, width)
