"""Tensor maps in the bits of a GPU: each row is what CuTe DSL wrote for a tensor that was known."""

import pytest

from kfuzz.devices import TensorMap
from kfuzz.devices.python.launched.map_bits import decode_map

ADDRESS = 0x5557_53C9_43C0
F32, BF16, U8, F64 = 7, 9, 0, 8


def bits_of(*words: int) -> bytes:
    """A map: eight words, and what the host has left in the others."""
    return b"".join(one.to_bytes(8, "little") for one in (ADDRESS, *words)) + b"\xff" * 64


@pytest.mark.parametrize(
    ("words", "described"),
    [
        (
            (0x18_00040392, 0, 0, 0x7F_0000005F, 0, 0x1F << 56, 0x3F),
            TensorMap(F32, (96, 128), (384,), (32, 64), 0, 0),
        ),
        (
            (0x0C_00040512, 0, 0, 0x7F_0000005F, 0, 0x1F << 56, 0x3F),
            TensorMap(BF16, (96, 128), (192,), (32, 64), 0, 0),
        ),
        (
            (0x30_00040492, 0, 0, 0x7F_0000005F, 0, 0x1F << 56, 0x3F),
            TensorMap(F64, (96, 128), (768,), (32, 64), 0, 0),
        ),
        (
            (0x08_00046012, 0, 0, 0x7F_0000007F, 0, 0x3F << 56, 0x3F),
            TensorMap(U8, (128, 128), (128,), (64, 64), 3, 0),
        ),
        ((0x00_00040382, 0, 0, 0xFF, 0, 0x3F << 56, 0), TensorMap(F32, (256,), (), (64,), 0, 0)),
        (
            (0x18_002463A2, 0xC00, 0, 0x7F_0000005F, 4, 0x1F << 56, 0x013F),
            TensorMap(F32, (96, 128, 5), (384, 49152), (32, 64, 2), 3, 0),
        ),
        (
            (0x18_002403C2, 0x3C00_0000B400, 0xC00, 0x7F_0000005F, 0x2_00000001, 0x1F << 56 | 4, 0x3F),
            TensorMap(F32, (96, 128, 2, 3, 5), (384, 737280, 245760, 49152), (32, 64, 1, 1, 1), 0, 0),
        ),
    ],
)
def test_what_the_dsl_wrote_is_read(words: tuple[int, ...], described: TensorMap) -> None:
    assert decode_map(bits_of(*words)) == (ADDRESS, described)


@pytest.mark.parametrize(("word", "bit"), [(1, 0), (1, 11), (1, 16), (1, 19), (6, 35), (7, 40)])
def test_a_bit_that_was_never_seen_is_not_read(word: int, bit: int) -> None:
    words = [0x18_00040392, 0, 0, 0x7F_0000005F, 0, 0x1F << 56, 0x3F]
    words[word - 1] ^= 1 << bit
    assert decode_map(bits_of(*words)) is None
