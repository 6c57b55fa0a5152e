"""The arrays of a claim, read from the front matter and checked against the roles of the op.

    "e2m1x2[rows, cols / 2] -> q, high first"

A claim writes what lies in memory: bytes with two elements each. The role counts elements: rows x cols of them. Knows
how an array is written and which roles an op has; never how an array is filled or placed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kfuzz.claims.language import expression
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.expression import Expression
from kfuzz.claims.language.fill import Fill, FillError, fill_of
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.keys import ARRAY_USAGE
from kfuzz.claims.language.reading import ClaimNames, checked, required
from kfuzz.claims.language.roles import Roles
from kfuzz.common.text.cuda_text import split_commas
from kfuzz.oracle.numbers.elements import BOOL, ELEMENTS, F32, FLOATS, I8, I16, I32, I64, U8, U32, Element
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.layout import Layout, Packing, read_layout, storage_of
from kfuzz.oracle.op.shapes import lengths_of

BY_ROWS = Layout()
WORD_TYPES = {8: U8, 32: U32, 64: I64}
"""How a kernel sees a word of so many bits that holds several elements."""
ALIGNMENT = 256
"""The alignment that cudaMalloc guarantees, in bytes."""

ARRAY = re.compile(
    r"(\w+)\s*\[(.*)\]\s*(?:=\s*([^\s<>]+?))?\s*(?:->\s*(\w+))?\s*(?:<-\s*(\w+))?(?:(?<=\w)(?:\s*,|\s)\s*(\w.*))?"
)
ROOM = re.compile(r"(.+?)\s+of\s+(.+)", re.DOTALL)
SLOTS = re.compile(r"(.+?)\s+within\s+(.+)", re.DOTALL)


@dataclass(frozen=True)
class Array:
    """An array of the kernel: the role it is read for, the role it is written for, or scratch.

    `shape` counts elements, as the role does, and `words` counts words of the memory, as the claim does: they differ
    where a word holds several elements. `fill` is the value that the host writes into every element before the first
    launch. `room` is the length of the array along its first dimension, if an output is only its beginning. `slots` is
    that length if only the first rows are there: what lies in the others must not matter. `layout` says where each
    element lies.
    """

    element: Element
    shape: tuple[Expression, ...]
    reads: str | None = None
    writes: str | None = None
    fill: Fill | None = None
    room: Expression | None = None
    slots: Expression | None = None
    per: int = 1
    words: tuple[Expression, ...] = ()
    layout: Layout = BY_ROWS

    @property
    def storage(self) -> Packing:
        """How its elements are stored: `per` of them in a word."""
        return Packing(self.element, self.per)

    @property
    def is_plain(self) -> bool:
        """Whether its elements lie one after another, each by itself."""
        return self.per == 1 and self.layout == BY_ROWS

    @property
    def stored(self) -> Element:
        """The type that a kernel sees in memory: a word, if it holds several elements."""
        return WORD_TYPES[self.storage.word_bits] if self.per > 1 else self.element

    @property
    def rank(self) -> int:
        """How many dimensions it has in memory."""
        return 1 if self.layout.tiles else len(self.shape)

    def __str__(self) -> str:
        sizes = [size.text for size in self.words or self.shape]
        if self.room:
            sizes[0] = f"{sizes[0]} of {self.room.text}"
        if self.slots:
            sizes[0] = f"{sizes[0]} within {self.slots.text}"
        shape = ", ".join(sizes)
        reads = f" -> {self.reads}" if self.reads else ""
        writes = f" <- {self.writes}" if self.writes else ""
        fill = f" = {self.fill.text}" if self.fill else ""
        return f"{self.storage if self.words else self.element}[{shape}]{fill}{reads}{writes}{show_order(self.layout)}"


def show_order(layout: Layout) -> str:
    """A layout as a claim writes it after a role; empty if rows lie one after another."""
    words = {
        "by columns": layout.columns, "tiles 128x4": layout.tiles, "high first": layout.high_first,
        f"stride {layout.stride}": layout.stride is not None,
    }  # fmt: skip
    return "".join(f", {word}" for word, is_so in words.items() if is_so)


def read_arrays(front: FrontMatter, written: Mapping[str, str] | None, names: ClaimNames) -> dict[str, Array]:
    example = 'arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }'
    texts = required(front, ("arrays",), written, example)
    return {name: read_array(front, ("arrays", name), text, names) for name, text in texts.items()}


def read_array(front: FrontMatter, key: KeyPath, text: str, names: ClaimNames) -> Array:
    """An array is "f32[shape]", then "= fill" if the host fills it, then "-> input", "<- output", or both, a layout."""
    parts = ARRAY.fullmatch(text.strip())
    if not parts:
        raise front.error(key, f"no array; write {ARRAY_USAGE}")
    element, inside, fill, reads, writes, order = parts.groups()
    storage = storage_of(element)
    if storage is None or (storage.per > 1 and storage.word_bits not in WORD_TYPES):
        known = f"{', '.join(ELEMENTS)}, and words of several: e2m1x2, i4x8, e8m0x4"
        raise front.error(key, f"unknown element type '{element}'; known are {known}")
    sizes = list(split_commas(inside))
    if not sizes:
        raise front.error(key, "a shape has at least one dimension; write [1] for one element")
    part, room = ROOM.fullmatch(sizes[0]), None
    if part:
        sizes[0], room = part[1], checked(front, key, part[2], names, expression.number)
        if reads or not writes:
            raise front.error(key, "'of' is for an output that is the beginning of a longer array: [1 of blocks] <- y")
    slots = None
    if within := SLOTS.fullmatch(sizes[0]):
        sizes[0], slots = within[1], checked(front, key, within[2], names, expression.number)
        if room or fill is not None or not (reads or writes):
            raise front.error(key, "'within' is for an input or an output of which only the first rows are there")
    shape = tuple(checked(front, key, size, names, expression.number) for size in sizes)
    if reads and fill is not None:
        raise front.error(key, "an input holds what the case says; leave out '= ...' or the role")
    row, layout = storage.element, read_order(front, key, order)
    words = shape if storage.per > 1 else ()
    if words:
        shape = in_elements(front, key, shape, storage.per, layout, names)
    if (words or layout != BY_ROWS) and (fill not in (None, "0") or room or slots or not (reads or writes)):
        found = (
            "only a whole array with a role has a layout, or several elements in a word; the host may fill it with 0"
        )
        raise front.error(key, found)
    value = read_fill(front, key, fill, row, names)
    return Array(row, shape, reads, writes, value, room, slots, storage.per, words, layout)


def read_order(front: FrontMatter, key: KeyPath, text: str | None) -> Layout:
    """The layout after a role: "by columns", "tiles 128x4", "high first", "stride 64"."""
    try:
        return read_layout(text or "")
    except OracleError as error:
        raise front.error(key, str(error)) from None


def in_elements(
    front: FrontMatter, key: KeyPath, words: tuple[Expression, ...], per: int, layout: Layout, names: ClaimNames
) -> tuple[Expression, ...]:
    """The shape in elements of a shape in words: of `cols / 2` bytes the role has cols elements."""
    place = len(words) - (2 if layout.columns and len(words) > 1 else 1)
    text = words[place].text
    divided = re.fullmatch(rf"(.+?)\s*/\s*{per}|ceil_div\((.+),\s*{per}\)", text)
    whole = (divided[1] or divided[2]) if divided else f"{per} * ({text})"
    return (*words[:place], checked(front, key, whole, names, expression.number), *words[place + 1 :])


def read_fill(front: FrontMatter, key: KeyPath, text: str | None, element: Element, names: ClaimNames) -> Fill | None:
    """The value of a fill; integers may also be a size, such as the count of rows that a launch reads from memory."""
    try:
        return None if text is None else fill_of(text, element)
    except FillError as error:
        if text in names.every and not element.is_float:
            return Fill(text, 0, expression.number(text, names))
        raise front.error(key, str(error)) from None


def check_roles(front: FrontMatter, roles: Roles, arrays: Mapping[str, Array], axes: Mapping[str, Axis]) -> None:
    """Check that each role has one array of its rank, and that the inputs' shapes give every axis its size."""
    check_each_role_has_one_array(front, roles, arrays)
    check_elements(front, roles, arrays)
    for name, array in arrays.items():
        check_rank(front, ("arrays", name), array, roles)
    shapes = {name: array.shape for name, array in arrays.items() if array.reads}
    for name, shape in shapes.items():
        unknown = sorted(set[str]().union(*(size.names for size in shape)) - axes.keys())
        if unknown:
            found = f"an input's shape is made of axes and integers alone; '{unknown[0]}' is no axis"
            raise front.error(("arrays", name), found)
    for name in axes:
        if name not in lengths_of((size.text, 0) for shape in shapes.values() for size in shape):
            found = f"'{name}' is no dimension of an input, so no case would give it a value"
            raise front.error(("axes", name), found)


def check_each_role_has_one_array(front: FrontMatter, roles: Roles, arrays: Mapping[str, Array]) -> None:
    """An input may be there twice, if one of the two arrays lies in tiles and the other does not."""
    taken: dict[tuple[str, bool], str] = {}
    for name, array in arrays.items():
        for arrow, role, known in (("->", array.reads, roles.inputs), ("<-", array.writes, roles.outputs)):
            if role is not None and role not in known:
                raise front.error(("arrays", name), f"'{arrow} {role}' is no role of this op; {roles}")
            place = (f"{arrow} {role}", arrow == "->" and array.layout.tiles)
            if role is not None and (owner := taken.get(place)):
                raise front.error(("arrays", name), f"'{arrow} {role}' is the role of '{owner}' already")
            taken[place] = name
    for arrow, known in (("->", roles.inputs), ("<-", roles.outputs)):
        for role in known:
            if not any((f"{arrow} {role}", is_in_tiles) in taken for is_in_tiles in (False, True)):
                raise front.error(("arrays",), f"no array has the role '{arrow} {role}'; {roles}")


def check_elements(front: FrontMatter, roles: Roles, arrays: Mapping[str, Array]) -> None:
    """Check the types: float32; any float for a formula or an op that only compares; integers; narrow types."""
    for name, array in arrays.items():
        role = array.reads or array.writes
        if role is None:
            continue
        if role in roles.grids:
            allowed = tuple(one for one in ELEMENTS.values() if one.is_narrow)
        elif role in roles.integers:
            allowed = (BOOL, U8, I32, I64) if role in roles.truths else (I32, I64)
            allowed += (I8, U8, I16, U32, BOOL) if role in roles.codes else ()
            most = roles.integers[role]
            if role in roles.inputs and most.isdigit():  # a byte holds them all
                allowed += tuple(one for one in (U8, I8) if int(most) <= one.largest_integer + 1 and one not in allowed)
        else:
            any_float = tuple(one for one in FLOATS if array.reads or roles.grids or not one.is_narrow)
            allowed = any_float if roles.takes_any_float else (F32,)
        if array.element not in allowed:
            raise front.error(("arrays", name), f"'{role}' of {roles.op} is {' or '.join(map(str, allowed))}")
    if roles.selects:
        check_selection(front, roles, arrays)


def check_selection(front: FrontMatter, roles: Roles, arrays: Mapping[str, Array]) -> None:
    """Check that the numbers that an op selects fit into its answers: rounding them is no part of the op."""
    floats = {name: one for name, one in arrays.items() if (one.reads or one.writes) in roles.floats}
    given = [one.element for one in floats.values() if one.reads]
    for name, one in floats.items():
        for element in given:
            if one.element is not element and not (roles.is_exact and one.writes and one.element.holds(element)):
                wider = ", or one that holds all its numbers" if roles.is_exact else ""
                found = f"{roles.op} selects: what it answers is of its input's type, {element}{wider}"
                raise front.error(("arrays", name), found)


def check_rank(front: FrontMatter, key: KeyPath, array: Array, roles: Roles) -> None:
    """Check that the array has the dimensions of its roles; the row of an op by row may also be a plain vector."""
    for role, dimensions in roles.dimensions(array.reads, array.writes):
        allowed = [dimensions]
        if roles.takes_vector and len(dimensions) == 2:
            allowed.append(dimensions[1:])
        if len(array.shape) not in map(len, allowed):
            shapes = " or ".join(f"[{', '.join(shape)}]" for shape in allowed)
            found = f"{len(array.shape)} dimensions; '{role}' of {roles.op} is {shapes}"
            raise front.error(key, found)


def read_align(front: FrontMatter, written: int | None, arrays: Mapping[str, Array]) -> int:
    """The alignment of the arrays' base addresses, in bytes."""
    if written is None:
        return ALIGNMENT
    widest = max(array.stored.bytes for array in arrays.values())
    if not widest <= written <= ALIGNMENT or written & (written - 1):
        found = f"a power of two from {widest} (the widest element) to {ALIGNMENT} bytes is expected"
        raise front.error(("align",), found)
    return written
