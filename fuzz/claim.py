"""The parts of a claim, and how each is read from the front matter: op, axes, tune, let, arrays, launches, broken.

Knows the format of a kernel file; never what is done with a claim. Every mistake is a ClaimError of one line.
"""

import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

from fuzz import expression
from fuzz.devices import DTYPES, Element
from fuzz.expression import Expression, ExpressionError
from fuzz.front_matter import FrontMatter, KeyPath, lookup
from fuzz.roles import Roles, op_names
from fuzz.signature import Parameter, split_commas

KEYS = ("op", "axes", "tune", "let", "arrays", "align", "launch", "accuracy", "values", "broken")
LAUNCH_KEYS = ("entry", "grid", "block", "shared", "args", "when")
KINDS = (
    "numeric", "special", "unwritten", "out-of-bounds", "uninitialised", "race", "divergent-barrier", "inactive-lane",
    "misaligned", "illegal-address", "trap", "input-changed", "nondeterministic", "hang",
)  # fmt: skip
INT_MAX = 2**31 - 1
ALIGNMENT = 256
"""What cudaMalloc guarantees, in bytes."""

FILLS: dict[str, tuple[int, int]] = {
    "i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1), "bf16": (0, 0),
    "f16": (-2048, 2048), "f32": (-(2**24), 2**24), "f64": (-(2**53), 2**53),
}  # fmt: skip
"""The integers that an element of each type holds exactly (bf16 travels as bits, so only zero is the same)."""

ARRAY = re.compile(r"(\w+)\s*\[(.*)\]\s*(?:->\s*(\w+))?\s*(?:<-\s*(\w+))?\s*(?:=\s*(-?\d+))?")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RANGE = re.compile(r"\s*(\d+)\s*\.\.\s*(\d+)\s*")


@dataclass(frozen=True)
class Axis:
    """A named size: every multiple of `multiple` from lo to hi."""

    lo: int
    hi: int
    multiple: int = 1

    def __contains__(self, size: int) -> bool:
        return self.lo <= size <= self.hi and size % self.multiple == 0

    def __str__(self) -> str:
        return f"{self.lo}..{self.hi}" + (f" by {self.multiple}" if self.multiple > 1 else "")


@dataclass(frozen=True)
class Array:
    """An array of the kernel: the role it is read for, the role it is written for, or scratch."""

    element: Element
    shape: tuple[Expression, ...]
    reads: str | None = None
    writes: str | None = None
    fill: int | None = None


@dataclass(frozen=True)
class Launch:
    """One launch: `entry` may hold `{name}` of a tune parameter, as in `block_sum<{threads}>`."""

    entry: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    shared: Expression
    args: tuple[str, ...]
    when: Expression | None = None


@dataclass(frozen=True)
class Broken:
    """What must be found in a kernel that is wrong on purpose, and why it is wrong."""

    kind: str
    why: str


def check_keys(front: FrontMatter, key: KeyPath, allowed: Iterable[str]) -> None:
    """Every key of the table at `key` is known; the closest one is proposed otherwise."""
    known = tuple(allowed)
    for name in table(front, key):
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f", did you mean '{close[0]}'?" if close else ""
            raise front.error((*key, name), f"unknown key{hint}; known here are {', '.join(known)}")


def table(front: FrontMatter, key: KeyPath) -> dict[str, object]:
    """The table at `key`; empty where it is left out."""
    found = lookup(front.values, key) if key else front.values
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise front.error(key, "a table is wanted, such as { name = ... }")
    return found


def required(front: FrontMatter, key: KeyPath, example: str) -> object:
    value = lookup(front.values, key)
    if value is None:
        raise front.error(key, f"missing; write for example {example}")
    return value


def read_op(front: FrontMatter) -> str:
    op = required(front, ("op",), 'op = "softmax"')
    if op not in op_names():
        raise front.error(("op",), f"unknown op; the oracle has {', '.join(op_names())}")
    return str(op)


def read_axes(front: FrontMatter) -> dict[str, Axis]:
    required(front, ("axes",), 'axes = { rows = "1..65535", cols = "1..1048576" }')
    return {name: read_axis(front, ("axes", name), value) for name, value in table(front, ("axes",)).items()}


def read_axis(front: FrontMatter, key: KeyPath, value: object) -> Axis:
    """An axis is "lo..hi" or { min = lo, max = hi, multiple = m }."""
    usage = 'an axis is "lo..hi" or { min = lo, max = hi, multiple = m }, in non-negative integers'
    if isinstance(value, dict):
        check_keys(front, key, ("min", "max", "multiple"))
        numbers = [value.get("min"), value.get("max"), value.get("multiple", 1)]
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise front.error(key, usage)
        lo, hi, multiple = (int(str(number)) for number in numbers)
    else:
        found = RANGE.fullmatch(value) if isinstance(value, str) else None
        if not found or max(map(len, found.groups())) > 19:
            raise front.error(key, usage)
        lo, hi, multiple = int(found[1]), int(found[2]), 1
    if lo > hi:
        raise front.error(key, f"the least size {lo} is above the greatest, {hi}")
    if multiple < 1:
        raise front.error(key, "multiple = 0; a multiple is at least 1")
    for size in (lo, hi):
        if size % multiple:
            raise front.error(
                key, f"{size} is no multiple of {multiple}; the nearest below is {size - size % multiple}"
            )
    return Axis(lo, hi, multiple)


def read_tune(front: FrontMatter) -> dict[str, tuple[int, ...]]:
    tune: dict[str, tuple[int, ...]] = {}
    for name, value in table(front, ("tune",)).items():
        key = ("tune", name)
        if not isinstance(value, list) or not all(
            type(item) is int and 0 <= item <= INT_MAX for item in value
        ):
            raise front.error(key, "a list of integers that fit an int is wanted, such as [32, 64, 128]")
        if not value:
            raise front.error(key, "an empty list leaves no way to launch; name at least one value")
        if len(set(value)) < len(value):
            raise front.error(key, "a value stands twice")
        tune[name] = tuple(value)
    return tune


def check_names(front: FrontMatter) -> None:
    """A name is an identifier and means one thing: an axis, a tune parameter, a let or an array."""
    owner: dict[str, str] = {}
    for section in ("axes", "tune", "let", "arrays"):
        for name in table(front, (section,)):
            key = (section, name)
            if not NAME.fullmatch(name):
                raise front.error(key, f"'{name}' is no name: letters, digits and _, no digit in front")
            if keyword.iskeyword(name) or name in expression.FUNCTIONS:
                raise front.error(key, f"'{name}' has a meaning in expressions; take another name")
            if name in owner:
                raise front.error(key, f"'{name}' stands in {owner[name]} already; a name means one thing")
            owner[name] = section


def read_let(front: FrontMatter, names: Iterable[str]) -> dict[str, Expression]:
    """The derived sizes, in an order in which each needs only those before it."""
    written = table(front, ("let",))
    allowed = (*names, *written)
    found = {name: read_number(front, ("let", name), allowed) for name in written}
    needs = {name: value.names & written.keys() for name, value in found.items()}
    try:
        return {name: found[name] for name in TopologicalSorter(needs).static_order()}
    except CycleError as error:
        circle = error.args[1]
        raise front.error(
            ("let", circle[0]), f"goes in a circle: {' needs '.join(reversed(circle))}"
        ) from None


def read_number(front: FrontMatter, key: KeyPath, allowed: Iterable[str]) -> Expression:
    """An integer or an expression in quotes."""
    value = lookup(front.values, key)
    if type(value) is not int and not isinstance(value, str):
        raise front.error(key, f"an integer or an expression in quotes is wanted: {expression.GRAMMAR}")
    return checked(front, key, str(value), allowed, expression.number)


def checked(
    front: FrontMatter,
    key: KeyPath,
    text: str,
    allowed: Iterable[str],
    read: Callable[[str, Iterable[str]], Expression],
) -> Expression:
    try:
        return read(text, allowed)
    except ExpressionError as error:
        raise front.error(key, str(error)) from None


def read_arrays(front: FrontMatter, names: Iterable[str]) -> dict[str, Array]:
    required(front, ("arrays",), 'arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }')
    allowed = tuple(names)
    return {
        name: read_array(front, ("arrays", name), value, allowed)
        for name, value in table(front, ("arrays",)).items()
    }


def read_array(front: FrontMatter, key: KeyPath, value: object, allowed: tuple[str, ...]) -> Array:
    """An array is "f32[shape]", then "-> input", "<- output", both, or "= fill"."""
    found = ARRAY.fullmatch(value.strip()) if isinstance(value, str) else None
    if not found:
        usage = '"f32[shape] -> input", "f32[shape] <- output", "f32[shape] -> x <- y" or "u32[1] = 0"'
        raise front.error(key, f"an array is written {usage}")
    element, inside, reads, writes, fill = found.groups()
    if element not in DTYPES:
        raise front.error(key, f"unknown element type '{element}'; known are {', '.join(DTYPES)}")
    shape = tuple(checked(front, key, part, allowed, expression.number) for part in split_commas(inside))
    if not shape:
        raise front.error(key, "a shape has at least one dimension; write [1] for one element")
    if (reads or writes) and element != "f32":
        raise front.error(key, "the oracle judges float32: an array with a role is f32")
    if fill is not None:
        lo, hi = FILLS[element]
        if reads or writes:
            raise front.error(key, "only scratch is filled by the host; leave out '= ...' or the role")
        if len(fill) > 20 or not lo <= int(fill) <= hi:
            raise front.error(key, f"a fill of {element} is an integer from {lo} to {hi}")
    return Array(element, shape, reads, writes, None if fill is None else int(fill))  # type: ignore[arg-type]  # in DTYPES


def check_roles(
    front: FrontMatter, op: str, roles: Roles, arrays: Mapping[str, Array], axes: Mapping[str, Axis]
) -> None:
    """Each input of the op is read by one array and each output written by one, in shapes of the op's rank."""
    check_direction(front, op, roles, arrays)
    for name, array in arrays.items():
        for role, dimensions in ((array.reads, roles.inputs), (array.writes, roles.outputs)):
            if role is not None:
                check_rank(front, ("arrays", name), op, role, dimensions[role], array, roles.takes_vector)
    bound: set[str] = set()
    for name, array in arrays.items():
        if array.reads:
            for size in array.shape:
                if unknown := sorted(size.names - axes.keys()):
                    raise front.error(
                        ("arrays", name),
                        f"an input's shape is made of axes and integers; '{unknown[0]}' is none",
                    )
                bound |= {size.text} & axes.keys()
    for name in axes:
        if name not in bound:
            raise front.error(
                ("axes", name), f"'{name}' is no dimension of an input of {op}, so no case gives it a value"
            )


def check_direction(front: FrontMatter, op: str, roles: Roles, arrays: Mapping[str, Array]) -> None:
    taken: dict[tuple[str, str], str] = {}
    for name, array in arrays.items():
        for arrow, role, known in (("->", array.reads, roles.inputs), ("<-", array.writes, roles.outputs)):
            if role is None:
                continue
            key = ("arrays", name)
            if role not in known:
                word = "an input" if arrow == "->" else "an output"
                raise front.error(key, f"'{role}' is not {word} of {op}; {in_words(roles)}")
            if (arrow, role) in taken:
                raise front.error(
                    key, f"'{arrow} {role}' stands in '{taken[arrow, role]}' already; a role has one array"
                )
            taken[arrow, role] = name
    for arrow, known in (("->", roles.inputs), ("<-", roles.outputs)):
        for role in known:
            if (arrow, role) not in taken:
                word = "input" if arrow == "->" else "output"
                raise front.error(
                    ("arrays",),
                    f"no array is the {word} '{role}' of {op}; give one the role '{arrow} {role}'",
                )


def in_words(roles: Roles) -> str:
    """Both directions as one writes them: `it has -> x, <- y`."""
    return "it has " + ", ".join(
        [f"-> {role}" for role in roles.inputs] + [f"<- {role}" for role in roles.outputs]
    )


def check_rank(
    front: FrontMatter,
    key: KeyPath,
    op: str,
    role: str,
    dimensions: tuple[str, ...],
    array: Array,
    takes_vector: bool,
) -> None:
    ranks = {len(dimensions)} | ({len(dimensions) - 1, 1} if takes_vector else set())
    if len(array.shape) not in ranks:
        wanted = " or ".join(
            f"[{', '.join(dimensions[len(dimensions) - rank :])}]" for rank in sorted(ranks, reverse=True)
        )
        raise front.error(key, f"{len(array.shape)} dimensions; '{role}' of {op} is {wanted}")


def read_launches(
    front: FrontMatter, names: tuple[str, ...], arrays: Mapping[str, Array], found: Mapping[str, tuple[Parameter, ...]],
    tune: Mapping[str, tuple[int, ...]],
) -> tuple[Launch, ...]:  # fmt: skip
    written = required(
        front, ("launch",), '[[launch]], then entry = "name", grid = "rows", block = 256, args = ["y", "x"]'
    )
    if not isinstance(written, list) or not all(isinstance(item, dict) for item in written):
        raise front.error(
            ("launch",), "launches stand under [[launch]], in double brackets, one for each step"
        )
    for index, _ in enumerate(written):
        check_keys(front, ("launch", index), LAUNCH_KEYS)
    launches = tuple(read_launch(front, ("launch", index), names, arrays) for index, _ in enumerate(written))
    for index, launch in enumerate(launches):
        check_entry(front, ("launch", index), launch, arrays, found, tune)
    used = {arg for launch in launches for arg in launch.args}
    for name in arrays:
        if name not in used:
            raise front.error(("arrays", name), f"no launch takes '{name}' in its args")
    return launches


def read_launch(
    front: FrontMatter, key: KeyPath, names: tuple[str, ...], arrays: Mapping[str, Array]
) -> Launch:
    entry = required(front, (*key, "entry"), 'entry = "softmax_online"')
    if not isinstance(entry, str):
        raise front.error((*key, "entry"), "the name of a __global__ function is wanted, in quotes")
    args = required(front, (*key, "args"), 'args = ["y", "x", "rows", "cols"]')
    if not isinstance(args, list):
        raise front.error(
            (*key, "args"), "a list of names is wanted, in the order of the function's parameters"
        )
    for arg in args:
        if arg not in names and arg not in arrays:
            known = ", ".join((*arrays, *names))
            raise front.error((*key, "args"), f"{arg!r} is no array and no size; known are {known}")
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


def check_entry(
    front: FrontMatter, key: KeyPath, launch: Launch, arrays: Mapping[str, Array],
    found: Mapping[str, tuple[Parameter, ...]], tune: Mapping[str, tuple[int, ...]],
) -> None:  # fmt: skip
    """The entry is a __global__ function of the source, and the args fit its parameters."""
    name = re.match(r"\s*(?:\w+::)*(\w+)", launch.entry)
    if not name or name[1] not in found:
        known = ", ".join(found) or "none"
        raise front.error((*key, "entry"), f"no such __global__ function in the source; it has {known}")
    for hole in re.findall(r"\{(.*?)\}", launch.entry):
        if hole not in tune:
            known = ", ".join(tune) or "none"
            raise front.error((*key, "entry"), f"'{{{hole}}}' is no tune parameter; this claim has {known}")
    parameters = found[name[1]]
    if len(parameters) != len(launch.args):
        wanted = ", ".join(parameter.text for parameter in parameters)
        raise front.error(
            (*key, "args"), f"{len(launch.args)} given; {name[1]}({wanted}) takes {len(parameters)}"
        )
    for arg, parameter in zip(launch.args, parameters, strict=True):
        if parameter.is_pointer != (arg in arrays):
            what = "an array" if arg in arrays else "a size, passed as a C int"
            raise front.error((*key, "args"), f"'{arg}' is {what}; the parameter is '{parameter.text}'")
        wanted_bytes = DTYPES[arrays[arg].element].itemsize if arg in arrays else 4
        if parameter.bytes not in (None, wanted_bytes):
            what = f"made of {arrays[arg].element}" if arg in arrays else "passed as a C int"
            raise front.error((*key, "args"), f"'{arg}' is {what}; the parameter is '{parameter.text}'")


def read_align(front: FrontMatter, arrays: Mapping[str, Array]) -> int:
    value = lookup(front.values, ("align",))
    if value is None:
        return ALIGNMENT
    least = max(DTYPES[array.element].itemsize for array in arrays.values())
    if type(value) is not int or not least <= value <= ALIGNMENT or value & (value - 1):
        raise front.error(
            ("align",), f"a power of two from {least} (the widest element) to {ALIGNMENT} is wanted, in bytes"
        )
    return value


def read_broken(front: FrontMatter) -> Broken | None:
    """[broken] stands in every file of a folder of that name, and nowhere else."""
    folder = front.path.resolve().parent.name
    if "broken" not in front.values:
        if folder == "broken":
            raise front.error(
                ("broken",),
                f"missing in a folder of broken kernels; write kind = one of {', '.join(KINDS)}, and why",
            )
        return None
    if folder != "broken":
        raise front.error(("broken",), "a kernel that is wrong on purpose lies in a folder named broken")
    check_keys(front, ("broken",), ("kind", "why"))
    kind = required(front, ("broken", "kind"), 'kind = "race"')
    if kind not in KINDS:
        raise front.error(("broken", "kind"), f"unknown kind; known are {', '.join(KINDS)}")
    why = required(front, ("broken", "why"), 'why = "no barrier between the two loops"')
    if not isinstance(why, str) or not why.strip():
        raise front.error(("broken", "why"), "one sentence is wanted that says what is wrong")
    return Broken(str(kind), why.strip())
