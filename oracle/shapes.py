"""The arrays of an op: the declaration of a role, the sizes that follow from it, and the shape of an output.

Knows no op and no number system.
"""

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import CodeType
from typing import Any

import numpy as np

from kfuzz.oracle.elements import E4M3, Element, Reals
from kfuzz.oracle.errors import OracleError

ROLE = re.compile(r"(float32|float|uniform|int|bool|grid)\s*\[(.*)\]\s*(?:<\s*(\w+))?", re.DOTALL)
USAGE = (
    'write "float[rows, cols]", "float[rows, 2 * cols // step + 1]", "grid[rows, cols]", "bool[rows, cols]" or '
    '"int[rows] < cols"'
)
QUOTIENT = re.compile(r"(\w+)\s*/\s*(\w+)")
BETWEEN = re.compile(r",(?![^()]*\))")
NAME = re.compile(r"[A-Za-z_]\w*")
FUNCTIONS = {"sqrt": math.sqrt, "min": min, "max": max}
"""The functions that an expression over sizes may call."""

Lengths = Mapping[str, int]


@dataclass(frozen=True)
class Role:
    """One array of an op: numbers or integers, its dimensions, and the dimension or number that bounds its integers.

    `is_only_float32`: the array must be float32; any other array of numbers may be of any float type. `is_grid`: its
    numbers are those of a narrow type, of floats or integers. `is_uniform`: its numbers are from 0 to below 1.
    `is_truth`: its integers are 0 for false and 1 for true. A dimension is a name, a number, or an expression over
    names, such as "(n - k) // stride + 1"; "cols / group" is a quotient that is rounded up.
    """

    is_float: bool
    dimensions: tuple[str, ...]
    below: str | None = None
    is_only_float32: bool = False
    is_grid: bool = False
    is_uniform: bool = False
    is_truth: bool = False

    @property
    def divided(self) -> tuple[tuple[str, str, str], ...]:
        """The dimensions that are quotients, each with what is divided and by what."""
        parts = [(dimension, *dimension.partition(" / ")[::2]) for dimension in self.dimensions]
        return tuple((whole, base, by) for whole, base, by in parts if by)

    @cached_property
    def derived(self) -> tuple[str, ...]:
        """The dimensions that follow from other sizes: quotients and other expressions."""
        return tuple(dimension for dimension in self.dimensions if is_derived(dimension))

    def stored_as(self, form: Element) -> Element:
        """The type of its elements where arrays of numbers have this one."""
        return E4M3 if self.is_grid else form

    def limit(self, sizes: Lengths) -> int | None:
        """The number that its integers are below, if there is one."""
        return limit_of(self.below, sizes)

    def shape(self, sizes: Lengths) -> tuple[int, ...]:
        """The array's shape at these sizes."""
        return tuple(sizes[dimension] for dimension in self.dimensions)


def limit_of(below: str | None, sizes: Lengths) -> int | None:
    """A bound of integers: a number, or the size of a dimension."""
    return int(below) if below and below.isdigit() else sizes.get(below or "")


def read_role(op: str, name: str, text: object) -> Role:
    """Read a role as an op's file declares it."""
    match = ROLE.fullmatch(text.strip()) if isinstance(text, str) else None
    if not match:
        raise OracleError(f"{op}: {name} = {text!r}: not a role; {USAGE}")
    parts = [part.strip() for part in BETWEEN.split(match[2]) if part.strip()]
    try:
        dimensions = tuple(map(read_dimension, parts))
    except SyntaxError:
        raise OracleError(f"{op}: {name} = {text!r}: not a role; {USAGE}") from None
    kind, is_truth = match[1], match[1] == "bool"
    return Role(
        kind not in ("int", "bool"), dimensions, "2" if is_truth else match[3], kind == "float32", kind == "grid",
        kind == "uniform", is_truth,
    )  # fmt: skip


def read_dimension(text: str) -> str:
    """A dimension as all of kfuzz spells it."""
    if quotient := QUOTIENT.fullmatch(text):
        return " / ".join(quotient.groups())
    return ast.unparse(ast.parse(text.strip(), mode="eval"))


def is_derived(dimension: str) -> bool:
    """Whether a dimension follows from other sizes; it is neither a name nor a number."""
    return not (dimension.isidentifier() or dimension.isdigit())


@cache
def names_in(dimension: str) -> frozenset[str]:
    """The sizes that a dimension is made of."""
    return frozenset(NAME.findall(dimension)) - FUNCTIONS.keys()


def measure(dimension: str, sizes: Lengths) -> int:
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


def shape_output(x: Reals, role: Role, sizes: Lengths, only: Lengths | None = None) -> Reals:
    """Remove the axes that a reduction keeps from an output; unchanged if only the answer knows its length."""
    if any(dimension not in sizes and not dimension.isdigit() for dimension in role.dimensions):
        return x
    only = only or {}
    shape = tuple(1 if {d, d.partition(" / ")[0]} & only.keys() or d == "1" else sizes[d] for d in role.dimensions)
    size = math.prod(shape)
    if x.size == size:
        return x.reshape(shape)
    return np.broadcast_to(x, shape)
