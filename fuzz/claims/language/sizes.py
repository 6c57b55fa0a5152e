"""The sizes of a claim, read from the front matter: op, axes, tune, let and broken.

Knows the format of a kernel file; never what is done with a claim. Every mistake is a ClaimError of one line.
"""

import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from kfuzz.claims.language import expression
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.expression import Expression, ExpressionError
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.keys import WrittenBroken, WrittenClaim, WrittenRandom
from kfuzz.claims.language.reading import ClaimNames, Sizes, read_number, required
from kfuzz.kinds import KINDS, Kind, Severity
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.backward import PREFIX

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Broken:
    """The finding that kfuzz must report in a kernel that is wrong on purpose, its severity, and the reason."""

    kind: Kind
    severity: Severity
    why: str


def read_op(front: FrontMatter, written: str | None) -> str:
    """The name of an op of the oracle, or the path of a formula beside the kernel."""
    op = required(front, ("op",), written, 'op = "softmax"')
    if op.endswith(".py"):
        before = PREFIX * op.startswith(PREFIX)
        found = before + str((front.path.parent / op.removeprefix(before)).resolve())
        try:
            find(found)
        except OracleError as error:
            raise front.error(("op",), str(error)) from None
        return found
    try:
        return find(op).name
    except OracleError as error:
        reason = str(error).partition(": ")[2].replace("unknown;", "unknown op;")
        raise front.error(("op",), reason) from None


def read_axes(front: FrontMatter, written: Mapping[str, Axis] | None) -> dict[str, Axis]:
    return dict(required(front, ("axes",), written, 'axes = { rows = "1..65535", cols = "1..1048576" }'))


def names_of_random(written: WrittenRandom) -> dict[str, str]:
    """The names of the arguments that choose what is drawn, each by the key that gives it."""
    return {key: name for key, name in vars(written).items() if name is not None}


def check_names(front: FrontMatter, claim: WrittenClaim) -> None:
    """Check that a name is an identifier and means one thing: an axis, a tune parameter, a let, an array or a seed."""
    owner: dict[str, str] = {}
    tables: dict[str, Mapping[str, object] | None] = {
        "axes": claim.axes,
        "tune": claim.tune,
        "let": claim.let,
        "arrays": claim.arrays,
    }
    tables["random"] = dict.fromkeys(names_of_random(claim.random).values())
    for section, table in tables.items():
        for name in table or ():
            key = (section, name)
            if not NAME.fullmatch(name):
                raise front.error(key, f"'{name}' is no name: letters, digits and _, no digit in front")
            if section != "arrays" and (keyword.iskeyword(name) or name in expression.RESERVED):
                raise front.error(key, f"'{name}' has a meaning in expressions; take another name")
            if name in owner:
                raise front.error(key, f"'{name}' is already in {owner[name]}; a name means one thing")
            owner[name] = section


def read_let(front: FrontMatter, written: Mapping[str, str], names: Iterable[str]) -> dict[str, Expression]:
    """The derived sizes, in an order in which each needs only those before it."""
    every = (*names, *written)
    needs = {name: names_read(front, ("let", name), text) & written.keys() for name, text in written.items()}
    try:
        order = tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = error.args[1]
        raise front.error(("let", circle[0]), f"goes in a circle: {' needs '.join(reversed(circle))}") from None
    let: dict[str, Expression] = {}
    for name in order:
        let[name] = read_number(front, ("let", name), written[name], ClaimNames(every, conditions_in(let)))
    return let


def names_read(front: FrontMatter, key: KeyPath, text: str) -> frozenset[str]:
    """The names that the expression at a key reads."""
    try:
        return expression.names_of(text)
    except ExpressionError as error:
        raise front.error(key, str(error)) from None


def conditions_in(let: Mapping[str, Expression]) -> frozenset[str]:
    """The derived sizes that are conditions: 1 if they hold, else 0."""
    return frozenset(name for name, value in let.items() if value.is_condition)


def read_home(front: FrontMatter, written: Sizes | None, axes: Mapping[str, Axis]) -> dict[str, int]:
    """The shape that the function was written for: a size for every axis."""
    key: KeyPath = (front.language.function_key, "home")
    if written is None:
        return {}
    if written.keys() != axes.keys():
        raise front.error(key, f"a size for each axis is expected, of {', '.join(axes)}")
    for name, size in written.items():
        if size not in axes[name]:
            raise front.error((*key, name), f"a size of the axis is expected: {axes[name]}")
    return {name: written[name] for name in axes}


def read_broken(front: FrontMatter, written: WrittenBroken | None, is_exhibit: bool) -> Broken | None:
    """The table [broken]; each of kfuzz's own exhibits (kernels/broken) must have it."""
    if written is None:
        if is_exhibit:
            wanted = f"missing in our folder of broken kernels; write kind = one of {', '.join(KINDS)}, and why"
            raise front.error(("broken",), wanted)
        return None
    kind = required(front, ("broken", "kind"), written.kind, 'kind = "race"')
    gravest = KINDS[kind].severity
    severity = written.severity or gravest
    if (severity, gravest) == ("error", "warning"):
        raise front.error(("broken", "severity"), f"{kind} is never more than a warning; leave severity out")
    why = required(front, ("broken", "why"), written.why, 'why = "no barrier between the two loops"').strip()
    if not why:
        raise front.error(("broken", "why"), "a sentence that says what is wrong is expected")
    return Broken(kind, severity, why)
