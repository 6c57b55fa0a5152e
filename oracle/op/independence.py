"""The independent dimensions of an op: nothing at one index of such a dimension enters the answer at another.

kfuzz detects them by running the formula, not by reading it.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from kfuzz.oracle.numbers.errors import NothingRightError, OracleError
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.op.op import NamedReals, Op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Lengths, Places, names_in
from kfuzz.oracle.systems.exact import Exact

FEW_PLACES = 8


@cache
def independent_dimensions(op: Op) -> dict[str, tuple[str, ...]]:
    """The independent dimensions of each output: NaN in all inputs at one index must stay at that index.

    None is known of a reference that ends at small sizes, as one that wants whole blocks may.
    """
    sizes = op.small_sizes(4)
    inputs = op.random_inputs(sizes, np.random.default_rng(1))
    try:
        return {
            output: tuple(d for d in role.dimensions if _is_independent(op, output, d, inputs, sizes))
            for output, role in op.outputs.items()
        }
    except NothingRightError:
        return dict.fromkeys(op.outputs, ())


def _is_independent(op: Op, output: str, d: str, inputs: NamedReals, sizes: Lengths) -> bool:
    with_d = {n: role for n, role in op.inputs.items() if d in role.dimensions}
    if d.isdigit() or not any(role.is_float for role in with_d.values()) or _is_measured_by(op, d):
        return False
    role, scalars = op.outputs[output], op.scalars_of(sizes, {})
    for places in places_to_taint(sizes[d]):
        tainted = dict(inputs)
        for name, given in with_d.items():
            if given.is_float:
                tainted[name] = inputs[name].copy()
                np.moveaxis(tainted[name], given.dimensions.index(d), 0)[places] = np.nan
        try:
            with np.errstate(all="ignore"):
                made = op.run(Exact(sizes, index=Places(sizes)), tainted, sizes, scalars)[output]
        except OracleError:  # a reference may take no NaN, such as one of eigenvalues: nothing is known of its rows
            op.run(Exact(sizes, index=Places(sizes)), inputs, sizes, scalars)  # raises a mistake again
            return False
        y = shape_output(made.x, role, sizes)
        others = np.delete(np.moveaxis(y, role.dimensions.index(d), 0), places, axis=0)
        if any_of(np.isnan(others)):
            return False
    return True


def places_to_taint(size: int) -> list[list[int]]:
    """Sets of places, so that of any two places each is in a set without the other: of many, by the bits of a place."""
    if size <= FEW_PLACES:
        return [[place] for place in range(size)]
    bits = range((size - 1).bit_length())
    sets = [[place for place in range(size) if place >> bit & 1 == of] for bit in bits for of in (0, 1)]
    return [one for one in sets if one]


@cache
def unused_inputs(op: Op) -> frozenset[str]:
    """The inputs of gradients that no gradient depends on: NaN in all of them changes nothing."""
    if not op.is_gradient:
        return frozenset()
    sizes = op.small_sizes(3)
    inputs, scalars = op.random_inputs(sizes, np.random.default_rng(1)), op.scalars_of(sizes, {})

    def is_unused(name: str) -> bool:
        tainted = {**inputs, name: np.full(inputs[name].shape, np.nan)}
        made = op.run(Exact(sizes, index=Places(sizes)), tainted, sizes, scalars)
        return not any(any_of(np.isnan(one.x)) for one in made.values())

    with np.errstate(all="ignore"):
        return frozenset(name for name, role in op.inputs.items() if role.is_float and is_unused(name))


def _is_measured_by(op: Op, d: str) -> bool:
    """Whether another dimension, not a quotient of it, follows from this one, or an index is a place along it.

    An array that is cut along it would be shorter, and the index would lead nowhere.
    """
    if any(role.below == d or (role.structure and d in role.structure.names) for role in op.inputs.values()):
        return True
    return any(d in names_in(one) and " / " not in one and one != d for one in op.derived_dimensions)


@cache
def row_axes(op: Op) -> Mapping[str, int]:
    """The axis of each array that holds its independent rows: the axis of the outputs' first dimension.

    Every row needs the whole of an array that is not named. Empty for an op without independent rows, for one that
    is asked for whole arrays alone, and for one over other arrays than its own, whose rows may be anywhere in them.
    """
    if op.views or op.is_whole:
        return {}
    leads = {role.dimensions[:1] for role in op.outputs.values()}
    lead = "".join(*leads) if len(leads) == 1 else ""
    is_divided = any(base == lead for _, role in op.roles for _, base, _ in role.divided)
    if (
        not lead
        or is_divided
        or _is_measured_by(op, lead)
        or any(role.dimensions.count(lead) > 1 for _, role in op.roles)
    ):
        return {}
    cut = {name: role.dimensions.index(lead) for name, role in op.roles if lead in role.dimensions}
    is_cut = any(name in cut for name in op.inputs) and not op.inputs.keys() & op.outputs.keys()
    return cut if is_cut and _has_independent_rows(op, lead, cut) else {}


def _has_independent_rows(op: Op, lead: str, cut: Mapping[str, int]) -> bool:
    """Whether each index of a dimension has the same answer by itself, and the formula never asks for the index."""
    if not all(lead in apart for apart in independent_dimensions(op).values()):
        return False
    sizes = op.small_sizes(4)
    inputs = op.random_inputs(sizes, np.random.default_rng(3))
    rest = {d: n for d, n in sizes.items() if lead not in (d, d.partition(" / ")[0])}
    try:
        scalars = op.scalars_of(rest, {})
        whole = op.run(Exact(sizes, index=Places(sizes)), inputs, sizes, scalars)
        for place in range(sizes[lead]):
            alone = {n: np.take(x, [place], axis=cut[n]) if n in cut else x for n, x in inputs.items()}
            made = op.run(Exact(rest, index=Places(rest)), alone, rest, scalars)
            for name, role in op.outputs.items():
                mine = shape_output(made[name].x, role, rest | {lead: 1})
                if not np.allclose(mine[0], shape_output(whole[name].x, role, sizes)[place], equal_nan=True):
                    return False
    except (LookupError, NameError, ValueError, ArithmeticError):  # it asks for the dimension, which is missing
        return False
    return True
