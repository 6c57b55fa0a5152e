"""The names that a claim may use from an op's formula: its forms, its sums, its 16-bit values and its functions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.op import NamedReals, Op
from kfuzz.oracle.op.shapes import Lengths, Places
from kfuzz.oracle.systems.named import Named


@dataclass(frozen=True)
class Names:
    """The names of a formula's sums, with the number of terms of each, of its narrow values and of its functions.

    `is_deep`: many sums follow one another, or it has a loop with a state.
    """

    sums: Mapping[str, int]
    narrow_values: tuple[str, ...]
    functions: tuple[str, ...]
    is_deep: bool = False


MANY_SUMS = 5
"""A formula with so many sums after one another is looked at by slopes, too: the sets of one with fewer are narrow
enough. The DEEP of an op that is run again at each size says it in advance."""


@cache
def names_of(op: Op) -> Names:
    """The names that a claim may use, over all forms; a reference that kfuzz runs has none."""
    if op.is_whole:
        return Names({}, (), ())
    return names_at(op, op.random_inputs(op.small_sizes(3), np.random.default_rng(2)))


def names_at(op: Op, inputs: NamedReals) -> Names:
    """The same names, with the number of terms that each sum has for these inputs."""
    sizes = op.sizes_of(inputs)
    sums: dict[str, int] = {}
    narrow: dict[str, None] = {}
    functions: dict[str, None] = {}
    is_deep = False
    for form in op.every_form:
        N = Named(sizes, form, Places(sizes))
        with np.errstate(all="ignore"):
            op.run(N, inputs, sizes, op.scalars_of(sizes, {}))
        is_deep |= N.has_state or (N.longest >= MANY_SUMS if op.is_deep is None else op.is_deep)
        sums, narrow, functions = sums | N.sums, narrow | N.narrow_values, functions | N.functions
    return Names(sums, tuple(narrow), tuple(functions), is_deep and not op.is_gradient)


def work_at(op: Op, sizes: Lengths) -> int:
    """How many terms the sums of the formula add up at these sizes, and some for each value of its other steps."""
    if op.is_whole:
        return 0
    inputs, most = op.random_inputs(sizes, np.random.default_rng(2)), 0
    sizes = op.sizes_of(inputs)
    for form in op.every_form:
        N = Named(sizes, form, Places(sizes))
        with np.errstate(all="ignore"):
            op.run(N, inputs, sizes, op.scalars_of(sizes, {}))
        most = max(most, N.work)
    return most


def forms_that_keep(op: Op, rounded: tuple[str, ...], forms: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the forms that have each of these values: no kernel of another form rounds them."""
    return tuple(form for form in forms if {*rounded} <= kept_values(op, form)) if rounded else forms


@cache
def kept_values(op: Op, form: str) -> frozenset[str]:
    """The values that a kernel of this form may keep in a narrower format."""
    sizes = op.small_sizes(4)
    N = Named(sizes, form, Places(sizes))
    with np.errstate(all="ignore"):
        op.run(N, op.random_inputs(sizes, np.random.default_rng(1)), sizes, op.scalars_of(sizes, {}))
    return frozenset(N.narrow_values)


def check_names(op: Op, accuracy: Accuracy) -> None:
    """Raise an error if a claim names a form, a sum, or anything else that the formula does not have."""
    names = names_of(op)
    sums = (*names.sums, "*")
    named = {
        "form": ((accuracy.form,) if accuracy.form else (), (*filter(None, op.every_form), "any")),
        "adds": (accuracy.adds if isinstance(accuracy.adds, Mapping) else (), sums),
        "rescales": (accuracy.rescales if isinstance(accuracy.rescales, Mapping) else (), sums),
        "keep": (accuracy.keep, names.narrow_values),
        "functions": (accuracy.functions, names.functions),
        "shared": (accuracy.shared or (), names.sums),
    }
    for key, (given, known) in named.items():
        for name in given:
            if name not in known:
                raise OracleError(f"{op.name}: {key}={name!r}: expected {' or '.join(known) or 'none'}")
    if not forms_that_keep(op, accuracy.rounds, op.forms_of(accuracy.form)):
        raise OracleError(
            f"{op.name}: rounds={accuracy.rounds}: no form of {accuracy.form or 'the op'} has these values"
        )
