"""A layout is a bijection from elements to bits; packing and unpacking follow it."""

import numpy as np
import pytest

from kfuzz.oracle.numbers.elements import ELEMENTS, codes_of
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.layout import (
    Layout,
    bit_positions,
    is_element_byte,
    pack,
    read_layout,
    storage_of,
    unpack,
    word_count,
)

LAYOUTS = (
    "",
    "high first",
    "by columns",
    "by columns, high first",
    "tiles 128x4",
    "stride 24",
    "by columns, stride 16",
)


@pytest.mark.parametrize("text", LAYOUTS)
@pytest.mark.parametrize("name", ["e2m1x2", "i4x8", "u4x2", "e8m0x4", "e4m3", "i8", "bf16", "f32", "i4"])
def test_what_is_packed_is_unpacked_and_no_two_elements_share_a_bit(name: str, text: str) -> None:
    storage, layout, shape = storage_of(name), read_layout(text), (3, 5, 13)
    assert storage
    size = storage.element.bytes
    made = np.random.default_rng(1).integers(0, 1 << min(storage.element.bits, 8), (*shape, size)).astype(np.uint8)
    array = made.view(storage.element.dtype).reshape(shape)
    for padding in (b"\x00", b"\xff\x7f"):
        memory = pack(array, storage, layout, padding)
        assert len(memory) == word_count(shape, storage, layout) * storage.word_bytes
        assert unpack(memory, shape, storage, layout).tobytes() == array.tobytes()
    bits = storage.element.bits if storage.per > 1 else 8 * size
    at = bit_positions(shape, storage, layout)[..., None] + np.arange(bits)
    assert len(np.unique(at)) == at.size
    assert at.max() < 8 * len(memory)
    assert is_element_byte(shape, storage, layout).sum() == len(np.unique(at // 8))


def test_the_first_of_two_nibbles_is_the_low_one_unless_the_layout_says_otherwise() -> None:
    storage = storage_of("e2m1x2")
    assert storage
    pair = np.array([[2, 4]], np.uint8).view(storage.element.dtype)  # 1 and 2: cuda_fp4.h makes 0x42 of them
    assert pack(pair, storage).tolist() == [0x42]
    assert pack(pair, storage, Layout(high_first=True)).tolist() == [0x24]


def test_eight_nibbles_in_a_word_begin_with_the_lowest() -> None:
    storage = storage_of("i4x8")
    assert storage
    row = np.arange(8, dtype=np.uint8)[None].view(storage.element.dtype)
    assert pack(row, storage).view("<u4").tolist() == [0x76543210]


def test_an_odd_row_ends_in_half_a_byte_of_padding() -> None:
    storage = storage_of("u4x2")
    assert storage
    three = np.full((2, 3), 5, np.uint8).view(storage.element.dtype)
    assert pack(three, storage, padding=b"\xff").tolist() == [0x55, 0xF5, 0x55, 0xF5]


def test_scales_in_tiles_lie_where_cublas_has_them_and_the_rest_is_padding() -> None:
    storage, layout = storage_of("e8m0"), read_layout("tiles 128x4")
    assert storage
    at = bit_positions((200, 7), storage, layout) // 8
    r, c = 133, 5
    assert at[r, c] == (r // 128 * 2 + c // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4
    assert (at[33, 5], word_count((200, 7), storage, layout)) == (512 + 16 + 4 + 1, 2048)
    assert (~is_element_byte((200, 7), storage, layout)).sum() == 648


def test_columns_lie_one_after_another() -> None:
    storage = storage_of("u8")
    assert storage
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert pack(array, storage, read_layout("by columns")).tolist() == [0, 3, 1, 4, 2, 5]
    assert pack(array, storage, read_layout("stride 4"), b"\x63").tolist() == [0, 1, 2, 99, 3, 4, 5, 99]


@pytest.mark.parametrize("name", ["e2m1x3", "i4x32", "f32x2", "e4m3x", "x2", "e2m1x1", "nothing"])
def test_a_word_that_no_memory_has_is_no_storage(name: str) -> None:
    assert storage_of(name) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("by rows", "'by rows' is no layout"),
        ("tiles 64x4", "'tiles 64x4' is no layout"),
        ("tiles 128x4, by columns", "neither a stride nor columns"),
    ],
)
def test_an_unknown_layout_is_refused(text: str, reason: str) -> None:
    with pytest.raises(OracleError, match=reason):
        read_layout(text)


def test_a_stride_must_hold_a_row() -> None:
    storage = storage_of("e2m1x2")
    assert storage
    with pytest.raises(OracleError, match="stride 5: expected a multiple of 2, at least 4"):
        bit_positions((2, 4), storage, Layout(stride=5))


def test_a_wrong_reading_of_a_layout_changes_what_is_read() -> None:
    """Partner: layouts differ where their elements differ, so a kernel that reads another one is seen."""
    storage, shape = storage_of("u8"), (256, 8)
    assert storage
    array = np.arange(2048).astype(np.uint8).reshape(shape)
    memory = pack(array, storage, read_layout("tiles 128x4"))
    assert (unpack(memory, shape, storage) != array).mean() > 0.9
    nibbles, narrow = storage_of("i4x2"), np.arange(64, dtype=np.uint8)[None] % 16
    assert nibbles
    swapped = unpack(pack(narrow.view(ELEMENTS["i4"].dtype), nibbles), (1, 64), nibbles, Layout(high_first=True))
    assert np.all(codes_of(swapped) != narrow)
