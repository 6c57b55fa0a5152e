"""The parts of a job: the shape of each array, the buffers for a device, and the launches.

Knows arrays and launches of a claim at given sizes; never how a job is run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.arrays_in_memory import memory_shape, pack_array, padding_of
from kfuzz.claims.language.arguments import ClaimedArrays
from kfuzz.claims.language.arrays import Array
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.launches import Launch
from kfuzz.claims.language.reading import Sizes, at, evaluate
from kfuzz.claims.language.roles import Dimensions, Roles
from kfuzz.claims.steps import is_chosen, step_of
from kfuzz.devices import Buffer, Step
from kfuzz.devices.memory.vast import is_vast
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.layout import Shape, word_count
from kfuzz.oracle.op.shapes import is_derived, lengths_of, names_in

Arrays = Mapping[str, NDArray[np.generic]]


def shapes_of(front: FrontMatter, roles: Roles, arrays: ClaimedArrays, sizes: Sizes) -> dict[str, Shape]:
    """The shape of every array; a dimension of the op has the same size in all of them."""
    shapes: dict[str, Shape] = {}
    known = {"1": 1}
    for name, array in arrays.items():
        key = ("arrays", name)
        shapes[name] = tuple(evaluate(front, key, size, sizes) for size in array.shape)
        if min(shapes[name]) < 0:
            raise front.error(key, f"shape {list(shapes[name])} {at(sizes)}; a dimension is 0 or more")
        if not array.is_plain:
            check_memory(front, key, array, shapes[name], sizes)
        if array.slots and (slots := evaluate(front, key, array.slots, sizes)) < shapes[name][0]:
            raise front.error(key, f"{shapes[name][0]} within {slots} {at(sizes)}; there are no fewer slots than rows")
        if array.room and (room := evaluate(front, key, array.room, sizes)) < shapes[name][0]:
            raise front.error(key, f"{shapes[name][0]} of {room} {at(sizes)}; a part is no larger than the whole")
        for role, dimensions in roles.dimensions(array.reads, array.writes):
            clash = clash_of(dimensions, shapes[name], known)
            if clash:
                found = f"'{role}' of {roles.op} is [{', '.join(dimensions)}]; {clash} {at(sizes)}"
                raise front.error(key, found)
    return shapes


def check_derived_dimensions(
    front: FrontMatter, roles: Roles, arrays: ClaimedArrays, shapes: Mapping[str, Shape],
    scalars: Mapping[str, float | str],
) -> None:  # fmt: skip
    """Check each dimension that follows from other sizes, such as the groups of a row or the places of a window."""
    op, wide = find(roles.op), {name: (1,) * 8 + shape for name, shape in shapes.items()}  # one row may be a vector
    placed = [
        (name, role, dimension, size)
        for name, array in arrays.items()
        for role, dimensions in roles.dimensions(array.reads, array.writes)
        for dimension, size in zip(dimensions, wide[name][-len(dimensions) :], strict=True)
    ]
    sizes = op.add_axes(lengths_of((one, size) for _, _, one, size in placed), scalars)
    for name, role, dimension, size in placed:
        if size != sizes[dimension] and (is_derived(dimension) or dimension in op.axes):
            given = ", ".join(f"{one} = {sizes[one]}" for one in sorted(names_in(dimension)))
            own = f"unless scalars = {{ {dimension} = ... }} says otherwise"
            why = f"with {given}" if is_derived(dimension) else own
            found = f"{size} for {dimension}, which is {sizes[dimension]} {why}"
            raise front.error(("arrays", name), f"'{role}' of {roles.op}: {found}")


def check_memory(front: FrontMatter, key: KeyPath, array: Array, shape: Shape, sizes: Sizes) -> None:
    """Check that a stride holds a row, and the words of the claim hold each row: an odd one takes half a byte more."""
    try:
        word_count(shape, array.storage, array.layout)
    except OracleError as error:
        raise front.error(key, f"{error}, {at(sizes)}") from None
    if not array.words:
        return
    written = prod(evaluate(front, key, size, sizes) for size in array.words)
    needed = word_count(shape, array.storage, replace(array.layout, stride=None, tiles=False))
    if written != needed:
        found = f"{list(shape)} elements of {array.storage} take {needed} words, not {written}, {at(sizes)}"
        raise front.error(key, f"{found}; write ceil_div(cols, {array.storage.per}), or allow only multiples")


def clash_of(dimensions: Dimensions, shape: Shape, known: dict[str, int]) -> str:
    """In words, a dimension whose size differs in another array; adds new dimensions to `known`."""
    for dimension, size in zip(dimensions, (1,) * (len(dimensions) - len(shape)) + shape, strict=True):
        if known.setdefault(dimension, int(dimension) if dimension.isdigit() else size) != size:
            return f"{dimension} is {known[dimension]} elsewhere and {size} here"
    return ""


def buffer_of(
    front: FrontMatter, name: str, array: Array, shape: Shape, given: Arrays, sizes: Sizes,
    *, is_returned: bool, may_write_absent: bool,
) -> Buffer:  # fmt: skip
    """An array of the claim as a device takes it; `given` are the inputs in the kernel's element types."""
    content = None
    fill = array.fill.bits_at(sizes, array.element) if array.fill else None
    if array.reads and is_vast(given[array.reads]):
        fill = 0
    elif array.reads:
        content = pack_array(array, np.ascontiguousarray(given[array.reads]).reshape(shape))
    memory = memory_shape(array, shape)
    whole = (evaluate(front, ("arrays", name), array.room, sizes), *shape[1:]) if array.room else memory
    part = shape if array.room else None
    is_compared = array.writes and not any(map(is_vast, given.values()))
    padding = padding_of(array, shape) if is_compared else None
    absent = 0
    if array.slots:
        whole = (evaluate(front, ("arrays", name), array.slots, sizes), *shape[1:])
        absent = prod(whole) - prod(shape)
        content = None if content is None else add_rows(content, whole[0])
        padding = absent_bytes(whole, absent, array.element.bytes) if array.writes and absent else None
    keeps = bool(array.writes and absent and not is_returned and not may_write_absent)
    return Buffer(
        name, array.stored, whole, content, fill, bool(array.writes), part, is_returned, padding=padding,
        absent=absent, keeps_absent=keeps, used=words_used(array, shape),
    )  # fmt: skip


def words_used(array: Array, shape: Shape) -> int | None:
    """How many words at the start of each row in memory hold elements; None if there is no stride."""
    is_strided = array.layout.stride is not None and len(shape) > 1
    return -(-shape[-2 if array.layout.columns else -1] // array.per) if is_strided else None


def add_rows(content: NDArray[np.generic], slots: int) -> NDArray[np.generic]:
    """An input with rows after those that are there: the same ones again, as another request's would lie there."""
    if not content.size:
        return np.zeros((slots, *content.shape[1:]), content.dtype)
    return content.take(np.arange(slots) % len(content), axis=0)


def absent_bytes(shape: Shape, absent: int, size: int) -> NDArray[np.bool_]:
    """A mask of the bytes of the elements that are not there."""
    mask = np.zeros(prod(shape) * size, np.bool_)
    mask[len(mask) - absent * size :] = True
    return mask


def steps_of(
    front: FrontMatter, launches: Sequence[Launch], arrays: ClaimedArrays, sizes: Sizes, shapes: Mapping[str, Shape]
) -> tuple[Step, ...]:
    """The launches whose `when` holds; together they take every output."""
    chosen = [launch for launch in launches if is_chosen(front, launch, sizes)]
    for name, array in arrays.items():
        if array.writes and prod(shapes[name]) and not any(name in (*one.args, *one.returns) for one in chosen):
            raise front.error(("arrays", name), f"no launch takes '{name}' {at(sizes)}")
    return tuple(step_of(front, launch, arrays, sizes, shapes) for launch in chosen)
