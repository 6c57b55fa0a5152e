"""The launches of a claim, read from the front matter and held against the functions of the source.

Knows how a launch is written; never how one is run, nor the limits of a card.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from kfuzz.claims import expression
from kfuzz.claims.arrays import Array
from kfuzz.claims.expression import Expression
from kfuzz.claims.front_matter import FrontMatter, KeyPath, lookup
from kfuzz.claims.reading import Sizes, check_keys, checked, read_number, required, table
from kfuzz.claims.signature import Parameters, entries_of, split_commas
from kfuzz.claims.where import Where
from kfuzz.devices import DTYPES

KEYS = ("entry", "grid", "block", "shared", "args", "when")
EXAMPLE = '[[launch]], then entry = "name", grid = "rows", block = 256, args = ["y", "x", "rows", "cols"]'
INTEGER_BYTES = (4, 8)
"""What a size may be passed as; a narrower type would cut off what the claim admits."""
ClaimedArrays = Mapping[str, Array]
Functions = Mapping[str, Parameters]
Choices = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Launch:
    """One launch. `entry` may hold `{name}` of a tune parameter or a listed axis, as in `block_sum<{threads}>`."""

    entry: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    shared: Expression
    args: tuple[str, ...]
    when: Expression | None = None
    widths: tuple[int, ...] = ()
    """Bytes of each parameter; of those whose type the text does not tell, as many as a C int has."""

    def entry_for(self, sizes: Sizes) -> str:
        """The entry with each `{name}` replaced by its value."""
        return re.sub(r"\{(\w+)\}", lambda hole: str(sizes[hole[1]]), self.entry)

    def entries(self, choices: Choices, where: Where) -> tuple[str, ...]:
        """The entry for every value of the names in it, as far as the conditions on these alone hold."""
        holes = [name for name in choices if f"{{{name}}}" in self.entry]
        every = (dict(zip(holes, values, strict=True)) for values in product(*(choices[name] for name in holes)))
        return tuple(self.entry_for(sizes) for sizes in every if where.allows(sizes))


def read_launches(
    front: FrontMatter, names: tuple[str, ...], arrays: ClaimedArrays, choices: Choices
) -> tuple[Launch, ...]:
    written = required(front, ("launch",), EXAMPLE)
    if not isinstance(written, list) or not all(isinstance(item, dict) for item in written):
        raise front.error(("launch",), "a launch stands under [[launch]], in double brackets")
    launches = tuple(read_launch(front, ("launch", index), names, arrays) for index, _ in enumerate(written))
    functions, widths = entries_of(front.source), list[tuple[int, ...]]()
    for index, launch in enumerate(launches):
        parameters = read_function(front, ("launch", index, "entry"), launch, functions, choices)
        check_args(front, ("launch", index, "args"), launch, parameters, arrays)
        widths.append(tuple(parameter.bytes or INTEGER_BYTES[0] for parameter in parameters))
    for name in arrays:
        if not any(name in launch.args for launch in launches):
            raise front.error(("arrays", name), f"no launch takes '{name}' in its args")
    return tuple(replace(launch, widths=width) for launch, width in zip(launches, widths, strict=True))


def read_launch(front: FrontMatter, key: KeyPath, names: tuple[str, ...], arrays: ClaimedArrays) -> Launch:
    check_keys(front, key, KEYS)
    entry = required(front, (*key, "entry"), 'entry = "softmax_online"')
    if not isinstance(entry, str):
        raise front.error((*key, "entry"), "the name of a __global__ function is wanted, in quotes")
    args = required(front, (*key, "args"), 'args = ["y", "x", "rows", "cols"]')
    if not isinstance(args, list):
        raise front.error((*key, "args"), "a list of names is wanted, in the order of the parameters")
    for arg in args:
        if not isinstance(arg, str) or (arg not in names and arg not in arrays):
            found = f"'{arg}' is no array and no size; this claim has {', '.join((*arrays, *names))}"
            raise front.error((*key, "args"), found)
    when = lookup(front.values, (*key, "when"))
    if when is not None and not isinstance(when, str):
        raise front.error((*key, "when"), 'a condition in quotes is wanted, such as "cols <= 1024"')
    has_shared = "shared" in table(front, key)
    return Launch(
        entry=entry,
        grid=read_dimensions(front, (*key, "grid"), names),
        block=read_dimensions(front, (*key, "block"), names),
        shared=read_number(front, (*key, "shared"), names) if has_shared else expression.number("0", ()),
        args=tuple(args),
        when=None if when is None else checked(front, (*key, "when"), when, names, expression.condition),
    )


def read_dimensions(front: FrontMatter, key: KeyPath, names: tuple[str, ...]) -> tuple[Expression, ...]:
    """One to three expressions with commas between them."""
    value = required(front, key, f'{key[-1]} = "rows"')
    if type(value) is not int and not isinstance(value, str):
        raise front.error(key, 'one to three expressions are wanted, in one string: "chunks, rows"')
    sizes = split_commas(str(value))
    if not 1 <= len(sizes) <= 3:
        raise front.error(key, f"{len(sizes)} dimensions; a {key[-1]} has one, two or three")
    return tuple(checked(front, key, size, names, expression.number) for size in sizes)


def read_function(
    front: FrontMatter, key: KeyPath, launch: Launch, functions: Functions, choices: Choices
) -> Parameters:
    """The parameters of the __global__ function that the entry names."""
    for hole in re.findall(r"\{(.*?)\}", launch.entry):
        if hole not in choices:
            allowed = ", ".join(choices) or "none"
            found = f"'{{{hole}}}' is no tune parameter and no axis of listed sizes; this claim has {allowed}"
            raise front.error(key, found)
    name = re.match(r"(?:\w+::)*(\w+)\s*(?:<.*>)?$", launch.entry.strip())
    if not name or name[1] not in functions:
        found = f"no such __global__ function in the source; it has {', '.join(functions) or 'none'}"
        raise front.error(key, found)
    return functions[name[1]]


def check_args(front: FrontMatter, key: KeyPath, launch: Launch, parameters: Parameters, arrays: ClaimedArrays) -> None:
    """An array goes to a pointer to its element type, and a size to an integer of 32 or 64 bits."""
    if len(parameters) != len(launch.args):
        wanted = ", ".join(parameter.text for parameter in parameters)
        found = f"{len(launch.args)} given; {launch.entry} takes {len(parameters)}: ({wanted})"
        raise front.error(key, found)
    for arg, parameter in zip(launch.args, parameters, strict=True):
        array = arrays.get(arg)
        allowed = (DTYPES[array.element].itemsize,) if array else INTEGER_BYTES
        if (
            parameter.is_pointer != (array is not None)
            or parameter.bytes not in (None, *allowed)
            or (array is None and parameter.is_float)
        ):
            what = f"an array of {array.element}" if array else "a size, passed as an integer of 32 or 64 bits"
            raise front.error(key, f"'{arg}' is {what}; the parameter is '{parameter.text}'")
