"""Numbers of an input that are the same in every draw, while others of it change.

They are its structure: the zeros of a triangle, the ones of a diagonal, the infinities of a mask, padding. A right
kernel may rely on them, so they are put into the array of every case. Knows arrays and texts; torch is not imported.
"""

import base64
import functools
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import values


class SameNumbers(NamedTuple):
    """The same numbers of one array: its shape, a bit for each place, and the numbers at these places, as texts."""

    shape: Sequence[int]
    places: str
    numbers: str

    @classmethod
    def of(cls, places: NDArray[np.bool_], array: NDArray[np.float64]) -> "SameNumbers":
        """Those of an array at some places."""
        return cls(array.shape, packed(np.packbits(places)), packed(array[places].astype("<f8")))

    def words(self, name: str) -> str:
        """What the report says of an input."""
        places, numbers = self.arrays()
        whole = f"{places.size:,} numbers of {name}, of {'x'.join(map(str, self.shape))},"
        return f"{len(numbers):,} of the {whole} are the same in every draw: they stay so"

    def arrays(self) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """The places, and the numbers there."""
        bits = np.frombuffer(unpacked(self.places), np.uint8)
        places = np.unpackbits(bits, count=int(np.prod(self.shape))).astype(bool).reshape(self.shape)
        return places, np.frombuffer(unpacked(self.numbers), "<f8")


def packed(array: NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode("ascii")


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


@functools.lru_cache(maxsize=16)
def read_same(shape: tuple[int, ...], places: str, numbers: str) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The same of what an op's file says, read once."""
    return SameNumbers(shape, places, numbers).arrays()


def with_same_numbers(
    given: Mapping[str, NDArray[Any]], same: Mapping[str, tuple[Sequence[int], str, str]]
) -> dict[str, NDArray[np.float64]]:
    """The arrays of a case that have the shape of the drawn ones, with the numbers that are the same in every draw."""
    made = {}
    for name, (shape, places, numbers) in same.items():
        if name in given and given[name].shape == tuple(shape):
            where, those = read_same(tuple(shape), places, numbers)
            made[name] = values(given[name]).copy()
            made[name][where] = those
    return made
