"""The sizes of a claim, read from the front matter: op, axes, tune, let; and what is broken on purpose.

Knows the format of a kernel file; never what is done with a claim. Every mistake is a ClaimError of one line.
"""

import keyword
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import cast, get_args

from kfuzz.claims import expression
from kfuzz.claims.expression import Expression, ExpressionError
from kfuzz.claims.front_matter import FrontMatter, KeyPath, lookup
from kfuzz.claims.keys import BROKEN
from kfuzz.claims.reading import ClaimNames, check_keys, expression_text, read_number, required, table
from kfuzz.devices.limits import INT_MAX
from kfuzz.kinds import KINDS, Kind, Severity
from kfuzz.oracle.errors import OracleError
from kfuzz.oracle.find import find, op_names

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RANGE = re.compile(r"\s*(\d+)\s*\.\.\s*(\d+)\s*")


@dataclass(frozen=True)
class Axis:
    """A named size: every multiple of `multiple` from lo to hi, or of these those in `listed` alone."""

    lo: int
    hi: int
    multiple: int = 1
    listed: tuple[int, ...] = ()

    def __contains__(self, size: int) -> bool:
        return size in self.listed if self.listed else self.lo <= size <= self.hi and size % self.multiple == 0

    def near(self, size: int) -> int:
        """The largest size of the axis that is no larger than this one; the least where there is none."""
        if self.listed:
            return self.listed[max(0, bisect_right(self.listed, size) - 1)]
        size = max(self.lo, min(self.hi, size))
        return size - size % self.multiple

    def __str__(self) -> str:
        if self.listed:
            return ", ".join(map(str, self.listed))
        return f"{self.lo}..{self.hi}" + (f" by {self.multiple}" if self.multiple > 1 else "")


@dataclass(frozen=True)
class Broken:
    """What must be found in a kernel that is wrong on purpose, how grave that is, and why it is wrong."""

    kind: Kind
    severity: Severity
    why: str


def read_op(front: FrontMatter) -> str:
    op = required(front, ("op",), 'op = "softmax"')
    if isinstance(op, str) and op.endswith(".py"):  # a formula of one's own, beside the kernel
        path = (front.path.parent / op).resolve()
        try:
            find(str(path))
        except OracleError as error:
            raise front.error(("op",), str(error)) from None
        return str(path)
    if op not in op_names():
        raise front.error(("op",), f"unknown op; the oracle has {', '.join(op_names())}")
    return str(op)


def read_axes(front: FrontMatter) -> dict[str, Axis]:
    required(front, ("axes",), 'axes = { rows = "1..65535", cols = "1..1048576" }')
    return {name: read_axis(front, ("axes", name), value) for name, value in table(front, ("axes",)).items()}


def read_axis(front: FrontMatter, key: KeyPath, value: object) -> Axis:
    """An axis is "lo..hi", a list of sizes, or a table of min, max and multiple or pow2."""
    usage = (
        'an axis is "lo..hi", { min = lo, max = hi, multiple = m }, { min = lo, max = hi, pow2 = true } '
        "or a list of sizes, in non-negative integers"
    )
    if isinstance(value, list):
        return listed(front, key, value, usage)
    if isinstance(value, dict) and "pow2" in value:
        return powers_of_two(front, key, value, usage)
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


def listed(front: FrontMatter, key: KeyPath, sizes: list[object], usage: str) -> Axis:
    """The axis of just these sizes."""
    found = sorted({size for size in sizes if type(size) is int and 0 <= size <= INT_MAX})
    if not found or len(found) < len(sizes):
        raise front.error(key, f"{usage}; each once, at most {INT_MAX}")
    return Axis(found[0], found[-1], 1, tuple(found))


def powers_of_two(front: FrontMatter, key: KeyPath, value: Mapping[str, object], usage: str) -> Axis:
    """The axis of the powers of two from min to max, which are two of them."""
    check_keys(front, key, ("min", "max", "pow2"))
    lo, hi = value.get("min"), value.get("max")
    if value["pow2"] is not True or type(lo) is not int or type(hi) is not int:
        raise front.error(key, usage)
    for size in (lo, hi):
        if not expression.is_pow2(size):
            raise front.error(key, f"{size} is no power of two")
    found = tuple(1 << shift for shift in range(lo.bit_length() - 1, hi.bit_length()))
    if not found:
        raise front.error(key, f"the least size {lo} is above the greatest, {hi}")
    return Axis(lo, hi, 1, found)


def read_tune(front: FrontMatter) -> dict[str, tuple[int, ...]]:
    tune: dict[str, tuple[int, ...]] = {}
    for name, value in table(front, ("tune",)).items():
        key = ("tune", name)
        if not isinstance(value, list) or not all(type(item) is int and 0 <= item <= INT_MAX for item in value):
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
            if section != "arrays" and (keyword.iskeyword(name) or name in expression.RESERVED):
                raise front.error(key, f"'{name}' has a meaning in expressions; take another name")
            if name in owner:
                raise front.error(key, f"'{name}' stands in {owner[name]} already; a name means one thing")
            owner[name] = section


def read_let(front: FrontMatter, names: Iterable[str]) -> dict[str, Expression]:
    """The derived sizes, in an order in which each needs only those before it."""
    written = table(front, ("let",))
    every = (*names, *written)
    needs = {name: names_read(front, ("let", name)) & written.keys() for name in written}
    try:
        order = tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = error.args[1]
        raise front.error(("let", circle[0]), f"goes in a circle: {' needs '.join(reversed(circle))}") from None
    let: dict[str, Expression] = {}
    for name in order:
        let[name] = read_number(front, ("let", name), ClaimNames(every, conditions_in(let)))
    return let


def names_read(front: FrontMatter, key: KeyPath) -> frozenset[str]:
    """The names that the expression at a key reads."""
    try:
        return expression.names_of(expression_text(front, key))
    except ExpressionError as error:
        raise front.error(key, str(error)) from None


def conditions_in(let: Mapping[str, Expression]) -> frozenset[str]:
    """The derived sizes that are conditions: 1 where they hold, else 0."""
    return frozenset(name for name, value in let.items() if value.is_condition)


def read_home(front: FrontMatter, axes: Mapping[str, Axis]) -> dict[str, int]:
    """host.home or call.home, the shape that the function was written for: a size for every axis."""
    key: KeyPath = ("call" if front.is_python else "host", "home")
    value = lookup(front.values, key)
    if value is None:
        return {}
    if not isinstance(value, dict) or value.keys() != axes.keys():
        raise front.error(key, f"a size for each axis is wanted, of {', '.join(axes)}")
    for name, size in value.items():
        if type(size) is not int or size not in axes[name]:
            raise front.error((*key, name), f"a size of the axis is wanted: {axes[name]}")
    return {name: value[name] for name in axes}


def read_warp_synchronous(front: FrontMatter) -> bool:
    """Whether the kernel counts on the lanes of a warp to go in step."""
    value = lookup(front.values, ("warp_synchronous",))
    if value is not None and type(value) is not bool:
        raise front.error(("warp_synchronous",), "true or false is wanted")
    return bool(value)


def read_broken(front: FrontMatter, is_exhibit: bool) -> Broken | None:
    """What is wrong on purpose; each of our own exhibits (kernels/broken) has to say it."""
    if "broken" not in front.values:
        if is_exhibit:
            wanted = f"missing in our folder of broken kernels; write kind = one of {', '.join(KINDS)}, and why"
            raise front.error(("broken",), wanted)
        return None
    check_keys(front, ("broken",), BROKEN)
    kind = next((one for one in KINDS if one == required(front, ("broken", "kind"), 'kind = "race"')), None)
    if kind is None:
        raise front.error(("broken", "kind"), f"unknown kind; known are {', '.join(KINDS)}")
    gravest = KINDS[kind].severity
    severity = lookup(front.values, ("broken", "severity")) or gravest
    if severity not in get_args(Severity):
        raise front.error(("broken", "severity"), f"expected one of {', '.join(get_args(Severity))}")
    if (severity, gravest) == ("error", "warning"):
        raise front.error(("broken", "severity"), f"{kind} is never more than a warning; leave severity out")
    why = required(front, ("broken", "why"), 'why = "no barrier between the two loops"')
    if not isinstance(why, str) or not why.strip():
        raise front.error(("broken", "why"), "one sentence is wanted that says what is wrong")
    return Broken(kind, cast(Severity, severity), why.strip())
