"""What a claim may say of an op that is a formula: form, named sums, narrow values, operands, models, shared values.

Every name must stand in the formula. Knows the formula's names; never what a bound is.
"""

import math
from collections.abc import Iterator, Mapping
from typing import cast

from kfuzz.claims.expression import Expression
from kfuzz.claims.front_matter import FrontMatter, KeyPath, lookup
from kfuzz.claims.reading import ClaimNames, read_number, table
from kfuzz.oracle.elements import NARROW
from kfuzz.oracle.measured import function_models
from kfuzz.oracle.names import names_of
from kfuzz.oracle.op import Op
from kfuzz.oracle.rounding import FunctionModel

ClaimedCounts = Expression | Mapping[str, Expression] | None
"""One count for every sum, or a count for each by name."""

MODELS: dict[str, dict[str, FunctionModel]] = {
    "log": {"logf": FunctionModel(3.0), "__logf": FunctionModel(7.0, 2.0**-21)},
    "rsqrt": {"rsqrtf": FunctionModel(5.0), "1 / sqrtf": FunctionModel(3.0)},
    "sqrt": {"sqrtf": FunctionModel(1.0), "sqrt.approx": FunctionModel(3.0)},
    "tanh": {"tanhf": FunctionModel(5.0), "tanh.approx": FunctionModel(8192.0)},
    "erf": {"erff": FunctionModel(5.0)},
}
"""Documented errors: k ulp of the CUDA C Programming Guide is 2 k + 1 units of u; __logf's 2^-21.41 near 1 is absolute;
PTX gives tanh.approx 2^-11, and sqrt.approx 1 ulp."""


def read_scalars(front: FrontMatter, op: Op) -> dict[str, float]:
    """`scalars = { eps = 1e-5 }`: constants of the kernel, in the place of the op's own."""
    key = ("scalars",)
    given = table(front, key)
    check_known(front, key, given, tuple(op.scalars), "scalar")
    found = {}
    for name, value in given.items():
        if type(value) not in (int, float) or not math.isfinite(cast(float, value)):
            raise front.error((*key, name), "a finite number is wanted")
        found[name] = float(cast(float, value))
    return found


def literals_of(op: Op, scalars: Mapping[str, float]) -> dict[str, str]:
    """The op's constants as C++ writes them, for a launch to hand over by name; none that follow from sizes."""
    values = {**op.scalars, **scalars}
    return {name: repr(float(value)) for name, value in values.items() if not isinstance(value, str)}


def read_counts(front: FrontMatter, op: Op, name: str, names: ClaimNames) -> ClaimedCounts:
    """One expression, or a table of them by the names of the op's sums; "*" stands for the rest."""
    key = ("accuracy", name)
    value = lookup(front.values, key)
    if value is None:
        return None
    if not isinstance(value, dict):
        return read_number(front, key, names)
    check_known(front, key, value, (*names_of(op).sums, "*"), "sum")
    return {which: read_number(front, (*key, which), names) for which in value}


def each_count(name: str, counts: ClaimedCounts) -> Iterator[tuple[KeyPath, Expression]]:
    """Every count with the key under which it stands."""
    if isinstance(counts, Expression):
        yield ("accuracy", name), counts
    elif counts is not None:
        yield from ((("accuracy", name, which), count) for which, count in counts.items())


def check_known(
    front: FrontMatter, key: KeyPath, given: Mapping[str, object], known: tuple[str, ...], what: str
) -> None:
    """Raise ClaimError unless the op's formula has each of these names."""
    for name in given:
        if name not in known:
            raise front.error(
                (*key, name), f"the formula has no {what} of this name; it has {', '.join(known) or 'none'}"
            )


def read_narrowed(front: FrontMatter, key: KeyPath, known: tuple[str, ...]) -> dict[str, str]:
    given = table(front, key)
    check_known(front, key, given, known, "value")
    for name, word in given.items():
        if word not in NARROW:
            raise front.error((*key, name), f"one of {', '.join(NARROW)} is wanted")
    return {name: str(word) for name, word in given.items()}


def read_models(front: FrontMatter, known: tuple[str, ...]) -> dict[str, FunctionModel]:
    """`functions = { log = "__logf", tanh = [187, 0] }`: a name, or a measured error in u and an absolute one."""
    key = ("accuracy", "functions")
    given = table(front, key)
    check_known(front, key, given, known, "function")
    found = {}
    for name, value in given.items():
        names = MODELS.get(name, {})
        names = names | {
            f"{cuda} measured": model for cuda, model in function_models().get(name, {}).items() if cuda in names
        }
        if isinstance(value, str) and value in names:
            found[name] = names[value]
            continue
        numbers = value if isinstance(value, list) else []
        try:
            found[name] = FunctionModel(*(float(number) for number in numbers if type(number) in (int, float)))
        except (TypeError, ValueError):
            wanted = ", ".join(f'"{word}"' for word in names)
            usage = f"{wanted} or [units, absolute] is wanted: an error of units 2^-24, at least 1, and an absolute one"
            raise front.error((*key, name), usage) from None
    return found


def read_names(front: FrontMatter, key: KeyPath, known: tuple[str, ...]) -> tuple[str, ...] | None:
    value = lookup(front.values, key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise front.error(key, 'a list of names is wanted, such as ["mean", "var"]')
    check_known(front, key, dict.fromkeys(value), known, "sum")
    return tuple(value)
