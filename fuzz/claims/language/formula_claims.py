"""The keys of a claim for an op that is a formula: form, named sums, narrow values, operands, models, shared values.

Every name must be in the formula. Knows the formula's names; never what a bound is.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from kfuzz.claims.language.expression import Expression
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.reading import ClaimNames, Sizes, at, evaluate, read_number
from kfuzz.claims.language.rounding_values import WrittenCounts, function_usage
from kfuzz.oracle.accuracy.rounding import FunctionModel
from kfuzz.oracle.op.names import names_of
from kfuzz.oracle.op.op import Op

EPS = "eps"
"""The constant that a kernel may have as a number in its text; all others are arguments."""
NAMES = {EPS: re.compile(r"(?:\w+_|k)?eps(?:ilon)?", re.IGNORECASE)}
"""Common names of a constant, beside the op's own."""
ClaimedCounts = Expression | Mapping[str, Expression] | None
"""One count for every sum, or one for each sum by name."""


def check_scalars(front: FrontMatter, scalars: Mapping[str, float | str], op: Op) -> None:
    """`scalars = { eps = 1e-5 }`: constants of the kernel that replace the op's own; the op has each of them."""
    check_names_known(front, ("scalars",), scalars, (*op.scalars, *op.axes), "scalar")
    for name, value in scalars.items():
        if isinstance(value, str) and name not in op.axes:
            raise front.error(("scalars", name), "a finite number is expected")


def read_op_axes(
    front: FrontMatter, scalars: Mapping[str, float | str], op: Op, names: ClaimNames
) -> dict[str, Expression]:
    """The sizes that no array gives the op, such as that of a group, over the claim's sizes: `{ group = "cols" }`."""
    given = {name: scalars[name] for name in op.axes if name in scalars}
    texts = {name: value if isinstance(value, str) else f"{value:.17g}" for name, value in given.items()}
    return {name: read_number(front, ("scalars", name), text, names) for name, text in texts.items()}


def evaluate_op_axes(
    front: FrontMatter, op: Op, axes: Mapping[str, Expression], sizes: Sizes, is_full: bool
) -> dict[str, int]:
    """These sizes for the claim's sizes; ClaimError if one is too small for a case that has elements."""
    values = {name: evaluate(front, ("scalars", name), size, sizes) for name, size in axes.items()}
    for name, value in values.items():
        if value < op.least_of(name) and is_full:
            raise front.error(("scalars", name), f"{value} {at(sizes)}; it is {op.least_of(name)} or more")
    return {name: max(value, op.least_of(name)) for name, value in values.items()}


def literals_of(op: Op, scalars: Mapping[str, float | str]) -> dict[str, str]:
    """The op's constants as C++ writes them, for a launch to pass by name; without those that follow from sizes."""
    values = {**op.scalars, **{name: value for name, value in scalars.items() if name not in op.axes}}
    return {name: repr(float(value)) for name, value in values.items() if not isinstance(value, str)}


def constant_named(name: str, constants: Collection[str]) -> str:
    """The constant, of these, that an argument of this name means; empty if it means none."""
    if name in constants:
        return name
    return next((one for one in constants if one in NAMES and NAMES[one].fullmatch(name)), "")


def read_counts(
    front: FrontMatter, name: str, written: WrittenCounts | None, op: Op, names: ClaimNames
) -> ClaimedCounts:
    """One expression, or a table of them by the names of the op's sums; "*" means all others."""
    key = ("accuracy", name)
    if written is None:
        return None
    if isinstance(written, str):
        return read_number(front, key, written, names)
    check_names_known(front, key, written, (*names_of(op).sums, "*"), "sum")
    return {which: read_number(front, (*key, which), text, names) for which, text in written.items()}


def each_count(name: str, counts: ClaimedCounts) -> Iterator[tuple[KeyPath, Expression]]:
    """Every count with its key."""
    if isinstance(counts, Expression):
        yield ("accuracy", name), counts
    elif counts is not None:
        yield from ((("accuracy", name, which), count) for which, count in counts.items())


def read_form(front: FrontMatter, written: str | None, op: Op) -> str | None:
    """One of the op's forms, or any; some ops need one, which says what they compute."""
    forms = (*op.forms, *op.seldom, *(() if op.needs_form else ("any",)))
    if written is None and op.needs_form:
        raise front.error(("accuracy", "form"), f"{op.name} needs one of {', '.join(forms)}")
    if written is not None and written not in forms:
        raise front.error(("accuracy", "form"), f"one of {', '.join(forms)} is expected")
    return written


def read_kept(front: FrontMatter, written: Mapping[str, str], known: tuple[str, ...]) -> Mapping[str, str]:
    check_names_known(front, ("accuracy", "keep"), written, known, "value")
    return written


def read_models(
    front: FrontMatter, written: Mapping[str, FunctionModel | str], known: tuple[str, ...]
) -> dict[str, FunctionModel]:
    """The errors of the formula's functions; a word in the result is one that the function does not have."""
    key = ("accuracy", "functions")
    check_names_known(front, key, written, known, "function")
    models = {}
    for name, model in written.items():
        if isinstance(model, str):
            raise front.error((*key, name), function_usage(name))
        models[name] = model
    return models


def read_shared(front: FrontMatter, written: tuple[str, ...] | None, known: tuple[str, ...]) -> tuple[str, ...] | None:
    check_names_known(front, ("accuracy", "shared"), written or (), known, "sum")
    return written


def check_names_known(
    front: FrontMatter, key: KeyPath, names: Iterable[str], known: tuple[str, ...], what: str
) -> None:
    """Raise a ClaimError unless the op's formula has each of these names."""
    for name in names:
        if name not in known:
            reason = f"the formula has no {what} of this name; it has {', '.join(known) or 'none'}"
            raise front.error((*key, name), reason)
