"""The `where` of a claim: conditions on axes and tune that hold wherever the kernel may be launched.

    where = ["cols == threads", "is_pow2(cols)", "threads <= cols"]

Knows conditions and sizes, and finds the nearest sizes that satisfy them; never what a size measures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from kfuzz.claims.language import expression
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.expression import Expression, ExpressionError
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.reading import ClaimNames, Sizes, checked

SWEEPS = 6


@dataclass(frozen=True)
class Where:
    """The conditions, the values that each name may have, and sizes at which all conditions hold."""

    conditions: tuple[Expression, ...]
    axes: Mapping[str, Axis]
    tune: Mapping[str, tuple[int, ...]]
    example: Sizes

    def __bool__(self) -> bool:
        """Whether there is any condition."""
        return bool(self.conditions)

    def broken(self, sizes: Sizes) -> tuple[Expression, ...]:
        """The conditions that do not hold, or have no value, at these sizes of all axes and tune."""
        return tuple(condition for condition in self.conditions if not is_true(condition, sizes))

    def allows(self, sizes: Sizes) -> bool:
        """Whether the conditions on these names alone hold."""
        return all(is_true(one, sizes) for one in self.conditions if one.names <= sizes.keys())

    def near(self, sizes: Sizes, movable: Sequence[str]) -> dict[str, int] | None:
        """Sizes at which all conditions hold, with only the movable names changed; the first of them sooner.

        If one name is enough, it moves to the nearest value. None if no sizes are found.
        """
        found = dict(sizes)
        for _ in range(SWEEPS):
            left = len(self.broken(found))
            if not left:
                return found
            better = next((one for most in sorted({0, left - 1}) for one in self._moved(found, movable, most)), None)
            if better is None:
                return self._by_two(found, movable)
            found = better
        return None

    def _moved(self, sizes: Sizes, movable: Iterable[str], most: int) -> Iterator[dict[str, int]]:
        """The sizes with one name moved, nearest first, if then at most `most` conditions are broken."""
        broken = self.broken(sizes)
        names = frozenset[str]().union(*(condition.names for condition in broken))
        for name in movable:
            reading = [condition for condition in self.conditions if name in condition.names]
            staying = sum(name not in condition.names for condition in broken)
            for value in self._candidates(name, sizes) if name in names and staying <= most else ():
                moved = {**sizes, name: value}
                if staying + sum(not is_true(condition, moved) for condition in reading) <= most:
                    yield moved

    def _by_two(self, sizes: Sizes, movable: Sequence[str]) -> dict[str, int] | None:
        """One name moved so that a broken condition holds, whatever others it breaks, and then a second."""
        broken = self.broken(sizes)
        for first, second in permutations(movable, 2):
            for value in self._candidates(first, sizes):
                moved = {**sizes, first: value}
                if any(is_true(one, moved) for one in broken):
                    for found in self._moved(moved, [second], 0):
                        return found
        return None

    def _candidates(self, name: str, sizes: Sizes) -> list[int]:
        """The values of a name at which a condition may begin to hold, the nearest first.

        They are the other numbers and those beside them, their multiples and parts, powers of two, and the ends.
        """
        if name in self.tune:
            return sorted(self.tune[name], key=lambda value: distance(value, sizes[name]))
        axis, here = self.axes[name], sizes[name]
        numbers = {value for other, value in sizes.items() if other != name}
        numbers |= {literal for condition in self.conditions for literal in condition.literals}
        numbers = {number for number in numbers if number > 0}
        factors = numbers | {one * other for one, other in combinations(sorted(numbers), 2)}
        found = {here, axis.lo, axis.hi, *(number + step for number in factors for step in (-1, 0, 1))}
        for factor in factors:
            found |= {here - here % factor, here - here % factor + factor}
            found |= {other // factor for other in factors}
        power = 1 << max(here, 1).bit_length()
        found |= {power << shift >> 6 for shift in range(12)}
        inside = {axis.near(value) for value in found}
        return sorted(inside, key=lambda value: distance(value, here))


def is_true(condition: Expression, sizes: Sizes) -> bool:
    """Whether a condition holds; one that divides by zero does not."""
    try:
        return bool(condition(sizes))
    except ExpressionError:
        return False


def distance(value: int, here: int) -> tuple[float, int]:
    """How far apart two sizes are, as their ratio: 3 and 4 are as near as 300 and 400."""
    low, high = sorted((value + 1, here + 1))
    return high / low, value


def read_where(
    front: FrontMatter, written: Sequence[str], axes: Mapping[str, Axis], tune: Mapping[str, tuple[int, ...]]
) -> Where:
    """The conditions of a claim; ClaimError if it finds no sizes at which all of them hold."""
    key, names = ("where",), ClaimNames((*axes, *tune))
    conditions = tuple(checked(front, (*key, i), one, names, expression.condition) for i, one in enumerate(written))
    start = {name: axis.lo for name, axis in axes.items()} | {name: values[0] for name, values in tune.items()}
    where = Where(conditions, axes, tune, start)
    ends = ({name: axis.lo for name, axis in axes.items()}, {name: axis.hi for name, axis in axes.items()})
    for end in ends:
        for choice in ({}, *({name: value} for name, values in tune.items() for value in values)):
            example = where.near({**start, **end, **choice}, names.every)
            if example is not None:
                return Where(conditions, axes, tune, example)
    raise front.error(key, "no sizes of the axes and tune are found at which all of these hold")
