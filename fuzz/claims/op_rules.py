"""The sizes for which an op is defined: a claim may not allow others, such as fewer keys than rows in a causal op."""

from collections.abc import Iterator, Mapping
from itertools import product

from kfuzz.claims.arrays import Array
from kfuzz.claims.axes import Axis
from kfuzz.claims.expression import show_sizes
from kfuzz.claims.front_matter import FrontMatter
from kfuzz.claims.where import Where
from kfuzz.oracle.op import Op
from kfuzz.oracle.shapes import evaluate

MOST = 4096
"""How many corners are tried; each of six axes at four sizes."""


def check_op_rules(
    front: FrontMatter, op: Op, axes: Mapping[str, Axis], tune: Mapping[str, tuple[int, ...]], where: Where,
    arrays: Mapping[str, Array],
) -> None:  # fmt: skip
    """Raise a ClaimError if the claim allows sizes at which the op is not defined."""
    for rule in op.where:
        for corner in corners_of(axes, tune, where):
            sizes = dimensions_at(op, arrays, corner)
            if sizes is not None and not evaluate(rule, sizes):
                found = f"{show_sizes(corner, tuple(corner))} is allowed, and {op.name} is defined for {rule} alone"
                place = ("where",) if "where" in front.values or not axes else ("axes",)
                raise front.error(place, f'{found}; write it into where = ["..."]')


def corners_of(axes: Mapping[str, Axis], tune: Mapping[str, tuple[int, ...]], where: Where) -> Iterator[dict[str, int]]:
    """Sizes at the ends of the axes that the claim allows with at least one tune."""
    ends = [sorted({axis.lo, axis.hi, *(n for n in (axis.lo + 1, axis.lo + 2) if n in axis)}) for axis in axes.values()]
    tunes = [dict(zip(tune, values, strict=True)) for values in product(*tune.values())]
    for _, values in zip(range(MOST), product(*ends), strict=False):
        corner = dict(zip(axes, values, strict=True))
        if any(not where.broken({**corner, **choice}) for choice in tunes):
            yield corner


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
