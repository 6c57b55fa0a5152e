"""Words along several axes: these are joined to a last one first. Knows how elements lie; it knows no arithmetic."""

from math import prod

from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.layout import Shape
from kfuzz.oracle.systems.value import Axes, Quantity


def count_along(shape: Shape, axis: Axes) -> int:
    """How many elements lie along these axes together."""
    return prod(shape[place] for place in _places(shape, axis))


def fold(a: Quantity, axis: Axes, shape: Shape | None = None) -> Quantity:
    """The elements, repeated to this shape, with these axes joined to one, which is the last."""
    if a.terms is not None:
        raise OracleError("exponentials are added up along one axis: join the axes before the exp, by reshaped")
    a = a if shape is None or shape == a.shape else a.expanded(*shape)
    last = _places(a.shape, axis)
    first = [place for place in range(len(a.shape)) if place not in last]
    moved = a if [*first, *last] == list(range(len(a.shape))) else a.permuted((*first, *last))
    return moved.reshaped(*(a.shape[place] for place in first), prod(a.shape[place] for place in last))


def unfold(made: Quantity, shape: Shape, axis: Axes) -> Quantity:
    """What a word made along the last axis, with one element along each of these axes of an array of this shape."""
    places = _places(shape, axis)
    return made.reshaped(*(1 if place in places else size for place, size in enumerate(shape)))


def _places(shape: Shape, axis: Axes) -> list[int]:
    return sorted(one % len(shape) for one in (axis if isinstance(axis, tuple) else (axis,)))
