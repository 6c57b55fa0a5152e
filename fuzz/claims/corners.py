"""The sizes at which a claim is checked when it is loaded: its corners, where it most likely contradicts itself.

Knows axes, tune values and conditions; never what is checked there.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from kfuzz.claims.language.expression import Expression
from kfuzz.claims.language.launches import Launch
from kfuzz.claims.language.where import Where

MOST_TUNES = 64
"""If the tune values have at most this many combinations, all are tried; otherwise the first and the last."""
MOST_CORNERS = 2048
"""The same for their combinations with the ends of the axes: a convolution has 4608."""


def corners(
    where: Where, launches: Sequence[Launch], let: Mapping[str, Expression]
) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """The axes and tune values at which a claim most likely contradicts itself.

    Every corner of the axes with every tune value; then the sizes beside each number that a `when` names,
    since a gap between the variants begins there. With a `where`, they are the nearest sizes that it allows.
    """
    if not where:
        yield from every_corner(where, launches, let)
        return
    yield {name: where.example[name] for name in where.axes}, {n: where.example[n] for n in where.tune}
    for axes, tune in every_corner(where, launches, let):
        found = where.near({**axes, **tune}, tuple(where.axes))
        if found:
            yield {name: found[name] for name in axes}, tune


def every_corner(
    where: Where, launches: Sequence[Launch], let: Mapping[str, Expression]
) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """The corners, whether or not the conditions of `where` allow them."""
    ends = [
        dict(zip(where.axes, sizes, strict=True))
        for sizes in product(*((axis.lo, axis.hi) for axis in where.axes.values()))
    ]
    tunes = [{name: values[end] for name, values in where.tune.items()} for end in (0, -1)]
    every = tunes
    combinations = prod(len(values) for values in where.tune.values())
    if combinations <= MOST_TUNES and combinations * len(ends) <= MOST_CORNERS:
        every = [dict(zip(where.tune, values, strict=True)) for values in product(*where.tune.values())]
    yield from product(ends, every)
    named = {n for launch in launches for one in launch.conditionals for n in numbers_in(one, let)}
    for size in sorted({number + step for number in named for step in (-1, 0, 1)}):
        for name, axis in where.axes.items():
            if size in axis:
                yield from product(({**end, name: size} for end in (ends[0], ends[-1])), tunes)


def numbers_in(value: Expression, let: Mapping[str, Expression]) -> frozenset[int]:
    """The numbers in an expression and in the derived sizes that it uses."""
    names, found = set(value.names), value.literals
    for name, derived in reversed(list(let.items())):  # each needs only those before it
        if name in names:
            names |= derived.names
            found |= derived.literals
    return found
