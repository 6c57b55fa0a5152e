"""What a guess adds for an op with groups or codes: the element types, the size of a group, constants, and rounding.

Types follow from pointers, numbers from the text. Knows text and ops; trials must show that a guess is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, permutations, product

from kfuzz.claims.language.roles import Roles
from kfuzz.claims.language.signature import Parameter
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.measure.roundings.constants import NONE_SAID, SMALL, Given, added_numbers, guessed_constants
from kfuzz.measure.roundings.launch_text import constants_of
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BOOL, E4M3, E8M0, ELEMENTS, F32, I8, I16, I32, I64, U8, Element
from kfuzz.oracle.op.shapes import is_derived

USUAL_GROUPS = (16, 32, 64, 128, 256)
FLOORS = ("eps", "least")
"""Scalars of ops below which amax does not fall."""
MOST_FLOORS = 6
AWAY = re.compile(r"\b(?:std::)?(?:l?l?roundf?)\s*\(")
OF_BYTES = (U8, E4M3, E8M0)
"""The types whose codes a kernel may hold in plain bytes."""

OTHER_NAMES = {I8.name: (r"\bk(?:Char|Int8)\b",), U8.name: (r"\bk(?:Byte|UInt8)\b",)}
"""Names of torch's that do not follow from its C++ types."""


@dataclass(frozen=True)
class GroupGuess:
    """A guess of what no array tells: the `scalars` of the claim, as TOML writes them."""

    scalars: Mapping[str, str]

    @property
    def text(self) -> str:
        """The key of the claim, with the end of its line; empty if there is nothing to say."""
        if not self.scalars:
            return ""
        return f"scalars = {{ {', '.join(f'{name} = {value}' for name, value in self.scalars.items())} }}\n"

    def size_of(self, derived: str, names: Mapping[str, str], op: str) -> str:
        """The length of a dimension such as `cols / group`, `2 * cols + 1` or `n ** each`, by the kernel's names."""
        values = {**{name: str(value) for name, value in find(op).axes.items()}, **self.scalars}
        values = {name: names.get(value.strip('"'), value.strip('"')) for name, value in values.items()}
        words = {**names, **values}
        base, power, by = derived.partition(" ** ")
        if power:  # each element's own number, or one of all
            return names.get(base, base) if values.get(by, by) == "1" else "1"
        base, slash, by = derived.partition(" / ")
        if not slash:
            return re.sub(r"[A-Za-z_]\w*", lambda word: words.get(word[0], word[0]), derived).replace("//", "/")
        own, value = names.get(base, base), values.get(by, by)
        if value == own:
            return "1"
        return own if value == "1" else f"ceil_div({own}, {value})"


def quotients_of(roles: Roles) -> list[str]:
    """The dimensions that are quotients of others: `cols / group`."""
    every = chain(*roles.inputs.values(), *roles.outputs.values())
    return [one for one in dict.fromkeys(every) if " / " in one]


def group_guesses(
    roles: Roles, names: Mapping[str, str], source: str, arguments: Sequence[str], given: Given = NONE_SAID
) -> list[GroupGuess]:
    """The likely groups and floors, the likeliest first; the constants alone for an op that has neither.

    `arguments`: the names of those that are not arrays. `given`: the values that the user says.
    """
    axes, quotients = find(roles.op).axes, quotients_of(roles)
    if not quotients and not roles.grids:
        small = added_numbers(blank_non_code(source))
        return [GroupGuess(one) for one in guessed_constants(roles.op, small, arguments, given)]
    sizes: list[dict[str, str]] = [{}]
    if len(axes) == len(quotients) == 1 and quotients[0].endswith(f" / {next(iter(axes))}"):
        ((axis, default),) = axes.items()
        base = quotients[0].partition(" / ")[0]
        own = names.get(base, base)
        written = [str(one) for one in usual_groups_in(source)]
        rest = [f'"{own}"', *([str(default)] if isinstance(default, int) else [])]
        sizes = [{axis: one} for one in dict.fromkeys([*written, *rest])]
    return [GroupGuess({**one, **floor}) for floor in floors(roles.op, source) for one in sizes]


def usual_groups_in(source: str) -> list[int]:
    """The named numbers of the text that are usual sizes of groups."""
    return [one for one in dict.fromkeys(constants_of(source).values()) if one in USUAL_GROUPS]


def groups_in(roles: Roles, source: str) -> list[int]:
    """The sizes of groups of which rows may be multiples, if the op has groups."""
    return usual_groups_in(source) if quotients_of(roles) else []


def floors(op: str, source: str) -> list[dict[str, str]]:
    """Values of the op's floors: the small numbers of the text, or 0."""
    names = [name for name in FLOORS if name in find(op).scalars]
    small = dict.fromkeys(SMALL.findall(blank_non_code(source)))
    every = product([*small, "0"], repeat=len(names))
    return [dict(zip(names, one, strict=True)) for one in islice(every, MOST_FLOORS)]


def quantize_tables(roles: Roles, source: str) -> list[str]:
    """Tables [quantize] for an op that writes codes: as loose as possible, but for how ties are rounded."""
    writes_codes = bool(roles.grids & roles.outputs.keys())
    is_away = writes_codes and AWAY.search(blank_non_code(source)) is not None
    return ['\n\n[quantize]\nround = "away"', ""] if is_away else [""]


def element_of_pointer(pointer: Parameter) -> Element | None:
    """The element type that its C type names; None if it is a type of no element."""
    words = re.findall(r"\w+", pointer.text.partition("*")[0])
    every = (ELEMENTS[name] for name in ELEMENTS)
    return next((one for one in every if any(word in words for word in one.c_types)), None)


def elements_for(roles: Roles, role: str, pointer: Parameter) -> tuple[Element, ...]:
    """The types that an array with this role may have where a kernel takes this pointer."""
    own = element_of_pointer(pointer)
    if role in roles.integers:
        allowed = (I32, I64, I8, U8, I16, BOOL) if role in roles.codes else (I32, I64)
        return (own,) if own is not None and own in allowed else (roles.whole,)
    if role in roles.grids:
        return OF_BYTES[:2] if own is U8 else (own,) if own is not None and own.is_narrow else ()
    if own is U8:
        return (E8M0,)
    return (own,) if own is not None and own.is_float else () if own is not None else (F32,)


def assignments(
    roles: Roles, names: Sequence[str], pointers: Sequence[Parameter]
) -> Iterator[tuple[tuple[str, Element], ...]]:
    """The roles of these pointers with a type for each: in the op's order first, then in any that the types allow."""
    if len(names) != len(pointers):
        return
    for order in permutations(names) if roles.grids else (tuple(names),):
        choices = [elements_for(roles, role, pointer) for role, pointer in zip(order, pointers, strict=True)]
        for elements in product(*choices):
            yield tuple(zip(order, elements, strict=True))


@dataclass(frozen=True)
class NarrowGuess:
    """A guess for a function of tensors, whose types only the text tells; `multiple`: rows are multiples of it."""

    element: Element
    group: GroupGuess
    rounding: str
    multiple: int = 1

    def element_of(self, roles: Roles, role: str) -> Element:
        """The type of an array with this role."""
        return self.element if role in roles.grids else roles.element(role)

    def shape_of(self, roles: Roles, dimensions: Sequence[str]) -> str:
        """The shape of an array, whose sizes have the op's own names."""
        return ", ".join(self.group.size_of(one, {}, roles.op) if is_derived(one) else one for one in dimensions)

    def range_of(self, size: str, most: int) -> str:
        """The sizes of an axis as a claim writes them."""
        if size != "cols" or self.multiple == 1:
            return f'"1..{most}"'
        return f"{{ min = {self.multiple}, max = {max(self.multiple, most)}, multiple = {self.multiple} }}"


def narrow_guesses(
    roles: Roles, source: str, arguments: Sequence[str], given: Given = NONE_SAID
) -> Iterator[NarrowGuess]:
    """The likely types of codes, groups and roundings of a function of tensors; one guess for an op without codes."""
    code = blank_non_code(source)
    narrow = [one for one in ELEMENTS.values() if one.is_narrow and one.bits > 1 and one.kind != "power"]
    found = [one for one in narrow if any(re.search(name, code) for name in torch_names(one))]
    groups = group_guesses(roles, {}, source, arguments, given)
    if not roles.grids:
        yield from (NarrowGuess(E4M3, group, "") for group in groups[: 1 if quotients_of(roles) else None])
        return
    for multiple in dict.fromkeys([1, *groups_in(roles, source)]):
        for rounding, group, element in product(quantize_tables(roles, source), groups, found or [E4M3]):
            yield NarrowGuess(element, group, rounding, multiple)


def torch_names(element: Element) -> tuple[str, ...]:
    """Patterns of the names that an extension has for an element type."""
    if element.torch is None:
        return ()
    own = element.torch.cpp.removeprefix("c10::")
    return (rf"\b{own}\b", *OTHER_NAMES.get(element.name, (rf"\bk{own}\b",)))
