"""Arrays of a claim as a kernel sees them in memory: words, layouts and the bytes between elements.

Knows how elements lie in memory; never what they mean.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.language.arrays import Array
from kfuzz.claims.language.roles import Roles
from kfuzz.oracle.numbers.elements import Element
from kfuzz.oracle.numbers.layout import Shape, bit_positions, is_element_byte, pack, unpack, word_count

NAN_WORD = (0x7FBADBAD).to_bytes(4, "little")
"""A NaN as float32, in both halves as bfloat16 and as float16."""


def memory_shape(array: Array, shape: Shape) -> Shape:
    """The words in memory of an array that has this shape in elements."""
    if array.is_plain:
        return shape
    total = word_count(shape, array.storage, array.layout)
    if array.layout.tiles or len(shape) < 2:
        return (total,)
    *lead, rows, cols = shape
    outer = (*lead, cols if array.layout.columns else rows)
    return (*outer, total // max(1, prod(outer)))


def row_axis_of(roles: Roles, array: Array) -> int | None:
    """The axis of an array along which the op can be split; None if the array is needed whole."""
    role = array.writes or array.reads or ""
    lacking = len({**roles.inputs, **roles.outputs}.get(role, ())) - len(array.shape)
    axis = roles.cut.get(role, -1) - lacking
    return axis if axis >= 0 else None


def memory_axis(array: Array, axis: int) -> int | None:
    """The axis in memory along which one of the array's own axes lies by itself; None if there is none."""
    last = len(array.shape) - 1
    if array.layout.tiles or (array.per > 1 and axis == (last - 1 if array.layout.columns else last)):
        return None
    return 2 * last - 1 - axis if array.layout.columns and axis >= last - 1 > -1 else axis


def pack_array(array: Array, given: NDArray[np.generic]) -> NDArray[np.generic]:
    """An input in memory. What lies between its elements must not reach an answer: it is NaN, if the type has one."""
    if array.is_plain:
        return np.ascontiguousarray(given)
    packed = pack(given, array.storage, array.layout, between(array.element, array.storage.per))
    return packed.view(array.stored.dtype).reshape(memory_shape(array, given.shape))


def unpack_array(array: Array, memory: NDArray[np.generic], shape: Shape) -> NDArray[np.generic]:
    """The elements of an output."""
    if array.is_plain:
        return memory
    plain = np.ascontiguousarray(memory).reshape(-1).view(np.uint8)
    return unpack(plain, shape, array.storage, array.layout)


def word_of(array: Array, shape: Shape, index: tuple[int, ...]) -> int:
    """The number of the word in memory that holds an element."""
    if array.is_plain:
        return int(np.ravel_multi_index(index, shape)) if shape else 0
    return int(bit_positions(shape, array.storage, array.layout)[index] // array.storage.word_bits)


def padding_of(array: Array, shape: Shape) -> NDArray[np.bool_] | None:
    """A mask of the bytes in memory that belong to no element; None if there are none."""
    if array.is_plain or word_count(shape, array.storage, array.layout) * array.per == prod(shape):
        return None
    mask = ~is_element_byte(shape, array.storage, array.layout)
    return mask if mask.any() else None


def between(element: Element, per: int) -> bytes:
    """The bytes between elements: a NaN of the type, else its largest number."""
    if not element.is_narrow:
        return NAN_WORD
    code = element.nan if element.nan is not None else int(np.argmax(element.numbers))
    nibbles = element.bits == 4 and per > 1
    return bytes([code | code << 4 if nibbles else code])
