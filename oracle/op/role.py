"""The arrays of an op: the declaration of a role, and the shape of an output.

Knows no op and no number system.
"""

import math
import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kfuzz.oracle.numbers.elements import E4M3, F32, Element, Reals
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.shapes import Lengths, is_derived, limit_of, read_dimension
from kfuzz.oracle.op.structure import USAGE as STRUCTURES
from kfuzz.oracle.op.structure import Structure, read_structure

ROLE = re.compile(r"(float32|float|uniform|share|int|bool|grid)\s*\[(.*)\]\s*(.*)", re.DOTALL)
USAGE = (
    'write "float[rows, cols]", "float[rows, 2 * cols // step + 1]", "grid[rows, cols]", "bool[rows, cols]" or '
    '"int[rows] < cols"'
)
BELOW = re.compile(r"<\s*(\w+)")
BETWEEN = re.compile(r",(?![^()]*\))")


SCALES = ("overall",)
"""Roles of scales whose names do not say so."""


def is_scale(role: str) -> bool:
    """Whether a role is one of scales, which are above 0, by its name."""
    return "scale" in role or role in SCALES


@dataclass(frozen=True)
class Role:
    """One array of an op: numbers or integers, its dimensions, and the dimension or number that bounds its integers.

    `structure`: which integers it may hold, if that is more than a bound. `is_truth`: they are 0 for false, 1 for true.
    `is_only_float32`: the array must be float32; any other array of numbers may be of any float type. `is_grid`: its
    numbers are those of a narrow type, of floats or integers. `is_uniform`: its numbers are from 0 to below 1.
    `is_share`: they are float32, 0 or more, and those of each row add up to 1. A dimension is a name, a number, or an
    expression over names, such as "(n - k) // stride + 1"; "cols / group" is a quotient that is rounded up.
    """

    is_float: bool
    dimensions: tuple[str, ...]
    below: str | None = None
    is_only_float32: bool = False
    is_grid: bool = False
    is_uniform: bool = False
    structure: Structure | None = None
    is_truth: bool = False
    is_share: bool = False

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


def read_role(op: str, name: str, text: object) -> Role:
    """Read a role as an op's file declares it."""
    match = ROLE.fullmatch(text.strip()) if isinstance(text, str) else None
    if not match:
        raise OracleError(f"{op}: {name} = {text!r}: not a role; {USAGE}")
    kind, inside, said = match[1], match[2], match[3].strip()
    try:
        dimensions = tuple(read_dimension(part.strip()) for part in BETWEEN.split(inside) if part.strip())
    except SyntaxError:
        raise OracleError(f"{op}: {name} = {text!r}: not a role; {USAGE}") from None
    below = BELOW.fullmatch(said)
    structure = read_structure(said, dimensions[-1]) if said and not below and kind == "int" and dimensions else None
    if said and (kind != "int" or not (below or structure)):
        raise OracleError(f"{op}: {name} = {text!r}: only integers have a structure; write {STRUCTURES}")
    return Role(
        kind not in ("int", "bool"), dimensions, "2" if kind == "bool" else below and below[1],
        kind in ("float32", "share"), kind == "grid", kind == "uniform", structure, kind == "bool", kind == "share",
    )  # fmt: skip


def shares_of(numbers: Reals) -> Reals:
    """Any numbers as probabilities: each row by its sum. Rows that add up to 1 stay as they are."""
    size = np.abs(np.nan_to_num(np.asarray(numbers, np.float64)))
    if not size.size:
        return size
    size[..., 0] = np.where(size.max(axis=-1) > 0, size[..., 0], 1.0)
    made = size / size.max(axis=-1, keepdims=True)
    made = (made / made.sum(axis=-1, keepdims=True)).astype(np.float32).astype(np.float64)
    is_done = np.abs(size.sum(axis=-1, keepdims=True) - 1) <= size.shape[-1] * F32.u
    return np.where(is_done, size, made)


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
