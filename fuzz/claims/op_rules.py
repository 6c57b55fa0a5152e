"""The sizes for which an op is defined: a claim may not allow others, such as fewer keys than rows in a causal op."""

from collections.abc import Iterator, Mapping
from itertools import islice, product

from kfuzz.claims.arrays import Array
from kfuzz.claims.expression import Expression, show_sizes
from kfuzz.claims.formula_claims import evaluate_op_axes
from kfuzz.claims.front_matter import FrontMatter
from kfuzz.claims.reading import evaluate
from kfuzz.claims.where import Where
from kfuzz.oracle.op import Op
from kfuzz.oracle.shapes import evaluate as evaluate_rule

MOST = 4096
"""How many corners are tried; each of six axes at four sizes."""


def check_op_rules(
    front: FrontMatter, op: Op, where: Where, arrays: Mapping[str, Array], let: Mapping[str, Expression],
    op_axes: Mapping[str, Expression],
) -> None:  # fmt: skip
    """Raise a ClaimError if the claim allows sizes at which the op is not defined."""
    if not op.where:
        return
    for axes, tune in corners_of(where, has_own_axes=bool(op_axes)):
        sizes = dimensions_at(op, arrays, axes)
        if sizes is None:
            continue
        every = {**axes, **tune}
        for name, value in let.items() if op_axes else ():
            every[name] = evaluate(front, ("let", name), value, every)
        sizes = op.add_axes(sizes, evaluate_op_axes(front, op, op_axes, every, all(axes.values())))
        for rule in op.where:
            if not evaluate_rule(rule, sizes):
                corner = {**axes, **tune} if op_axes else axes
                found = f"{show_sizes(corner, tuple(corner))} is allowed, and {op.name} is defined for {rule} alone"
                place = ("where",) if "where" in front.values or not where.axes else ("axes",)
                raise front.error(place, f'{found}; write it into where = ["..."]')


def corners_of(where: Where, has_own_axes: bool) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Sizes at the ends of the axes that the claim allows, with each tune, or with one if the op's sizes need none."""
    ends = [
        sorted({axis.lo, axis.hi, *(n for n in (axis.lo + 1, axis.lo + 2) if n in axis)})
        for axis in where.axes.values()
    ]
    tunes = [dict(zip(where.tune, values, strict=True)) for values in product(*where.tune.values())]
    for _, values in zip(range(MOST), product(*ends), strict=False):
        corner = dict(zip(where.axes, values, strict=True))
        allowed = (choice for choice in tunes if not where.broken({**corner, **choice}))
        yield from ((corner, choice) for choice in (allowed if has_own_axes else islice(allowed, 1)))


def dimensions_at(op: Op, arrays: Mapping[str, Array], axes: Mapping[str, int]) -> dict[str, int] | None:
    """The lengths of the op's dimensions; None if an array has another shape than its role, as a single row has."""
    sizes: dict[str, int] = {}
    for array in arrays.values():
        if array.reads:
            dimensions = op.inputs[array.reads].dimensions
            if len(dimensions) != len(array.shape):
                return None
            sizes |= {dimension: size(axes) for dimension, size in zip(dimensions, array.shape, strict=True)}
    return sizes
