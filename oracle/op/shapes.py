"""The dimensions of arrays as an op's file writes them, and the sizes that follow from others.

Knows no op and no number system.
"""

import ast
import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from kfuzz.oracle.numbers.elements import Reals

QUOTIENT = re.compile(r"(\w+)\s*/\s*(\w+)")
NAME = re.compile(r"[A-Za-z_]\w*")
LONGER = re.compile(r"([A-Za-z_]\w*)\s*\+\s*(\d+)")
FUNCTIONS = {"sqrt": math.sqrt, "min": min, "max": max}
"""The functions that an expression over sizes may call."""

Lengths = Mapping[str, int]


def limit_of(below: str | None, sizes: Lengths) -> int | None:
    """A bound of integers: a number, or the size of a dimension."""
    return int(below) if below and below.isdigit() else sizes.get(below or "")


def read_dimension(text: str) -> str:
    """A dimension as all of kfuzz spells it."""
    if quotient := QUOTIENT.fullmatch(text):
        return " / ".join(quotient.groups())
    return ast.unparse(ast.parse(text.strip(), mode="eval"))


@cache
def is_derived(dimension: str) -> bool:
    """Whether a dimension follows from other sizes; it is neither a name nor a number."""
    return not (dimension.isidentifier() or dimension.isdigit())


@cache
def longer_by(dimension: str) -> tuple[str, int] | None:
    """The name and the number of a dimension such as "batch + 1"; None for any other."""
    found = LONGER.fullmatch(dimension)
    return (found[1], int(found[2])) if found else None


def lengths_of(placed: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The sizes of names that dimensions of these lengths give: of "batch + 1" it is one less."""
    found, implied = dict[str, int](), dict[str, int]()
    for dimension, length in placed:
        if longer := longer_by(dimension):
            implied.setdefault(longer[0], length - longer[1])
        elif not is_derived(dimension):
            found[dimension] = length
    return {**implied, **found}


@cache
def names_in(dimension: str) -> frozenset[str]:
    """The sizes that a dimension is made of."""
    return frozenset(NAME.findall(dimension)) - FUNCTIONS.keys()


def dimension_length(dimension: str, sizes: Lengths) -> int:
    """The length of a dimension that follows from these sizes."""
    base, _, by = dimension.partition(" / ")
    return -(-sizes[base] // sizes[by]) if by else int(evaluate(dimension, sizes))


class Places(dict[str, Reals]):
    """0, 1, ... along each dimension, or one chosen index; made when a formula asks for them."""

    def __init__(self, sizes: Lengths, only: Lengths | None = None) -> None:
        super().__init__()
        self.sizes, self.only = sizes, only or {}

    def __missing__(self, dimension: str) -> Reals:
        one = self.only.get(dimension)
        self[dimension] = np.arange(self.sizes[dimension]) if one is None else np.array([one])
        return self[dimension]


def evaluate(text: str, sizes: Lengths) -> Any:  # noqa: ANN401  a number or a truth
    """Evaluate an expression over the sizes, from an op's file."""
    return eval(_compiled(text), {"__builtins__": {}, **FUNCTIONS, **sizes})  # noqa: S307  the file is Python itself


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<size>", "eval")


def slice_places(dimensions: tuple[str, ...], only: Lengths, sizes: Lengths) -> tuple[slice, ...]:
    """The part of an array at one place of some dimensions; of a quotient, the place that belongs to it."""
    made = []
    for dimension in dimensions:
        base, _, by = dimension.partition(" / ")
        place = only.get(dimension, only[base] // sizes[by] if by and base in only else None)
        made.append(slice(None) if place is None else slice(place, place + 1))
    return tuple(made)
