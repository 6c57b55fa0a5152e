"""The sizes for which an op is defined: a claim may not allow others, such as fewer keys than rows in a causal op."""

from collections.abc import Collection, Iterator, Mapping
from math import prod

from kfuzz.claims.language.arrays import Array
from kfuzz.claims.language.expression import Expression, show_sizes
from kfuzz.claims.language.formula_claims import evaluate_op_axes
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.reading import evaluate
from kfuzz.claims.language.where import Where
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.shapes import evaluate as evaluate_rule
from kfuzz.oracle.op.shapes import lengths_of

MOST = 2048
"""How many corners are tried."""


def check_op_rules(
    front: FrontMatter, op: Op, where: Where, arrays: Mapping[str, Array], let: Mapping[str, Expression],
    op_axes: Mapping[str, Expression],
) -> None:  # fmt: skip
    """Raise a ClaimError if the claim allows sizes at which the op is not defined."""
    if not op.where:
        return
    seen: set[tuple[int, ...]] = set()
    for axes, tune in corners_of(where, where.tune if op_axes else ()):
        sizes = dimensions_at(op, arrays, axes)
        if sizes is None:
            continue
        every = {**axes, **tune}
        for name, value in let.items() if op_axes else ():
            every[name] = evaluate(front, ("let", name), value, every)
        given = evaluate_op_axes(front, op, op_axes, every, all(axes.values()))
        lengths = (*sizes.values(), *given.values())
        if lengths in seen:
            continue
        seen.add(lengths)
        sizes = op.add_axes(sizes, given)
        for rule in op.where:
            if not evaluate_rule(rule, sizes):
                corner = {**axes, **tune} if op_axes else axes
                found = f"{show_sizes(corner, tuple(corner))} is allowed, and {op.name} is defined for {rule} alone"
                place = ("where",) if "where" in front.values or not where.axes else ("axes",)
                raise front.error(place, f'{found}; write it into where = ["..."]')


def corners_of(where: Where, named: Collection[str] = ()) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Sizes at the ends of the axes with values of tune, as the claim allows: an even choice if there are many.

    A tune parameter that neither a condition nor `named` names has its first value only.
    """
    named = frozenset(named).union(*(condition.names for condition in where.conditions))
    ends = {
        name: sorted({axis.lo, axis.hi, *(n for n in (axis.lo + 1, axis.lo + 2) if n in axis)})
        for name, axis in where.axes.items()
    }
    choices = {name: values if name in named else values[:1] for name, values in where.tune.items()} | ends
    total = prod(map(len, choices.values()))
    for number in range(min(total, MOST)):
        left, sizes = number * total // MOST if total > MOST else number, dict[str, int]()
        for name, values in choices.items():
            left, place = divmod(left, len(values))
            sizes[name] = values[place]
        if not where.broken(sizes):
            yield {name: sizes[name] for name in where.axes}, {name: sizes[name] for name in where.tune}


def dimensions_at(op: Op, arrays: Mapping[str, Array], axes: Mapping[str, int]) -> dict[str, int] | None:
    """The lengths of the op's dimensions; None if an array has another shape than its role, as a single row has."""
    placed: list[tuple[str, int]] = []
    for array in arrays.values():
        if array.reads:
            dimensions = op.inputs[array.reads].dimensions
            if len(dimensions) != len(array.shape):
                return None
            placed += [(dimension, size(axes)) for dimension, size in zip(dimensions, array.shape, strict=True)]
    return dict(placed) | lengths_of(placed)
