"""Where each element of an array lies in memory: the bijection from an element's index to its first bit.

An array of `e2m1x2` or `i4x8` holds words of several elements. A layout says how rows, columns and tiles follow each
other, and which element of a word comes first. Everything here follows from `bit_positions`. Knows no claim.
"""

import re
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import ELEMENTS, Element, codes_of
from kfuzz.oracle.numbers.errors import OracleError

Shape = tuple[int, ...]
PACKED = re.compile(r"(\w+?)x(\d+)")
TILE_ROWS, TILE_COLS = 128, 4
"""A tile of scales as cuBLAS and CUTLASS have it: 128 rows of 4, of which rows 32 apart lie side by side."""
LAYOUT_USAGE = '"by columns", "tiles 128x4", "stride N", "high first", or several of these with commas'


@dataclass(frozen=True)
class Packing:
    """How elements are stored: `per` of them in one word. `e2m1x2` has two in a byte, `i4x8` eight in 32 bits."""

    element: Element
    per: int = 1

    def __str__(self) -> str:
        return f"{self.element}x{self.per}" if self.per > 1 else str(self.element)

    @property
    def word_bits(self) -> int:
        """The bits of a word: those of its elements, or of the type that stores a single one."""
        return self.per * self.element.bits if self.per > 1 else 8 * self.element.bytes

    @property
    def word_bytes(self) -> int:
        """The size of a word in an array."""
        return self.word_bits // 8


def storage_of(name: str) -> Packing | None:
    """The storage that a name means: an element type, or `TYPExN` for N of them in a word; None for another word."""
    if name in ELEMENTS:
        return Packing(ELEMENTS[name])
    match = PACKED.fullmatch(name)
    if not match or match[1] not in ELEMENTS:
        return None
    storage = Packing(ELEMENTS[match[1]], int(match[2]))
    is_word = storage.per > 1 and storage.element.is_narrow and storage.word_bits in (8, 16, 32, 64)
    return storage if is_word else None


@dataclass(frozen=True)
class Layout:
    """The order of an array's elements in memory, by its last two dimensions.

    `columns`: the columns of a matrix lie one after another instead of its rows. `tiles`: tiles of 128 x 4, padded.
    `stride`: how many elements lie from the start of one row (or column) to the next; None: no gap but a word's end.
    `high_first`: the first element of a word is in its highest bits.
    """

    columns: bool = False
    tiles: bool = False
    stride: int | None = None
    high_first: bool = False

    def __post_init__(self) -> None:
        if self.tiles and (self.columns or self.stride is not None):
            raise OracleError("a layout in tiles has neither a stride nor columns")


def read_layout(text: str) -> Layout:
    """Read a layout such as "by columns, high first"; N of "stride N" is an integer."""
    found: dict[str, bool | int] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        stride = re.fullmatch(r"stride\s+(\d+)", part)
        words = {"by columns": "columns", f"tiles {TILE_ROWS}x{TILE_COLS}": "tiles", "high first": "high_first"}
        if not stride and part not in words:
            raise OracleError(f"'{part}' is no layout: write {LAYOUT_USAGE}")
        found["stride" if stride else words[part]] = int(stride[1]) if stride else True
    return Layout(**found)  # type: ignore[arg-type]  # bool and int by their words


def slot_count(shape: Shape, per: int, layout: Layout) -> int:
    """How many slots for elements the memory has, its padding included; for any shape, however large."""
    *lead, rows, cols = (1, 1, *shape) if len(shape) < 2 else shape
    if layout.tiles:
        return prod(lead) * -(-cols // TILE_COLS) * -(-rows // TILE_ROWS) * TILE_ROWS * TILE_COLS
    outer, inner = (cols, rows) if layout.columns else (rows, cols)
    return prod(lead) * outer * row_stride(inner, per, layout)


def row_stride(inner: int, per: int, layout: Layout) -> int:
    """How many slots lie from the start of one row, or column, to the next."""
    stride = -(-inner // per) * per if layout.stride is None else layout.stride
    if stride < inner or stride % per:
        raise OracleError(f"stride {stride}: expected a multiple of {per}, at least {inner}")
    return stride


def element_slots(shape: Shape, per: int, layout: Layout) -> NDArray[np.int64]:
    """The slot of each element, counted in elements from the start of the memory."""
    *lead, rows, cols = (1, 1, *shape) if len(shape) < 2 else shape
    if layout.tiles:
        r, c = np.arange(rows)[:, None], np.arange(cols)
        wide = -(-cols // TILE_COLS)
        one = (r // TILE_ROWS * wide + c // TILE_COLS) * (TILE_ROWS * TILE_COLS)
        one = one + r % 32 * 16 + r % TILE_ROWS // 32 * 4 + c % TILE_COLS
    else:
        outer, inner = (cols, rows) if layout.columns else (rows, cols)
        one = np.arange(outer)[:, None] * row_stride(inner, per, layout) + np.arange(inner)
        one = one.T if layout.columns else one
    size = slot_count((rows, cols), per, layout)
    starts = np.arange(prod(lead)).reshape(*lead, 1, 1) * size
    return np.asarray((starts + one).reshape(shape))


def bit_positions(shape: Shape, storage: Packing, layout: Layout = Layout()) -> NDArray[np.int64]:
    """The first bit of each element of an array of this shape, counted from the lowest bit of its first byte."""
    slots = element_slots(shape, storage.per, layout)
    word, slot = np.divmod(slots, storage.per)
    if layout.high_first:
        slot = storage.per - 1 - slot
    return np.asarray(word * storage.word_bits + slot * storage.element.bits)


def word_count(shape: Shape, storage: Packing, layout: Layout = Layout()) -> int:
    """How many words an array of this shape takes, its padding included."""
    return -(-slot_count(shape, storage.per, layout) // storage.per)


def repeat_bytes(block: bytes, nbytes: int) -> NDArray[np.uint8]:
    """So many bytes, which repeat a block: `np.resize` takes a fifth of a second for 2 MB of four bytes."""
    return np.tile(np.frombuffer(block, np.uint8), -(-nbytes // len(block)))[:nbytes]


def pack(
    array: NDArray[np.generic], storage: Packing, layout: Layout = Layout(), padding: bytes = b"\0"
) -> NDArray[np.uint8]:
    """The bytes of an array of elements; what lies between them repeats the bytes of `padding`."""
    total = word_count(array.shape, storage, layout) * storage.word_bytes
    memory = repeat_bytes(padding, total)
    at = bit_positions(array.shape, storage, layout).ravel()
    bits = storage.element.bits if storage.per > 1 else storage.word_bits
    if bits >= 8:
        size = bits // 8
        parts = np.ascontiguousarray(array).view(np.uint8).reshape(-1, size)
        memory[at[:, None] // 8 + np.arange(size)] = parts
        return memory
    mask = np.uint8((1 << bits) - 1)
    shift = (at % 8).astype(np.uint8)
    keep = np.full(total, 0xFF, np.uint8)
    np.bitwise_and.at(keep, at // 8, ~(mask << shift))
    memory &= keep
    np.bitwise_or.at(memory, at // 8, (codes_of(array).ravel() & mask) << shift)
    return memory


def unpack(memory: NDArray[np.uint8], shape: Shape, storage: Packing, layout: Layout = Layout()) -> NDArray[np.generic]:
    """The elements that bytes hold: what `pack` stored, in an array of the element's dtype."""
    at = bit_positions(shape, storage, layout)
    bits = storage.element.bits if storage.per > 1 else storage.word_bits
    if bits >= 8:
        size = bits // 8
        parts = np.ascontiguousarray(memory[at[..., None] // 8 + np.arange(size)])
        return parts.view(storage.element.dtype).reshape(shape)
    codes = (memory[at // 8] >> (at % 8).astype(np.uint8)) & np.uint8((1 << bits) - 1)
    return np.ascontiguousarray(codes).view(storage.element.dtype).reshape(shape)


def is_element_byte(shape: Shape, storage: Packing, layout: Layout = Layout()) -> NDArray[np.bool_]:
    """Which bytes of the memory hold a part of an element; the others are padding."""
    held = np.zeros(word_count(shape, storage, layout) * storage.word_bytes, dtype=np.bool_)
    bits = storage.element.bits if storage.per > 1 else storage.word_bits
    at = bit_positions(shape, storage, layout).ravel()
    held[at[:, None] // 8 + np.arange(max(1, bits // 8))] = True
    return held
