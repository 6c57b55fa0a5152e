"""A case: one input of an op, as bits, independent of any kernel.

Knows the roles and dimensions of ops and the recipes of arrays; never how a kernel is run or what the right
answer is.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import Recipe, describe
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.axes import MAX_ELEMENTS
from kfuzz.claims.language.reference import BY_REFERENCE, name_in_case, shown_op
from kfuzz.claims.language.roles import Dimensions, Roles, roles_of
from kfuzz.common.printable import print_repr
from kfuzz.devices.memory.vast import is_vast, make_unfilled
from kfuzz.kinds import Severity
from kfuzz.oracle.judging.find_op import hint, is_op
from kfuzz.oracle.numbers.elements import BY_DTYPE, F32, Element, values
from kfuzz.oracle.op.shapes import is_derived, longer_by
from kfuzz.oracle.op.spelling import name_in

Values = NDArray[Any]
"""float32 numbers, or the codes of a narrow type in a dtype that names it."""
BitPatterns = NDArray[Any]
"""The same memory as unsigned integers."""


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """One input of an op: role -> array in the op's own dimensions (a plain vector is one row).

    An array has float32 numbers, which each kernel rounds to its own type, or the codes of a narrow type.

    `axes` gives the op's dimension names their sizes; a dimension that the op fixes has no name. `recipes` say how some
    arrays were made; they serve people, small files and the minimizer, but the arrays are the case. `dimensions` are
    those of each array: they and the name of its file identify an op that is not kfuzz's own. Arrays are read-only.
    Equal cases have equal `digest`.
    """

    op: str
    axes: Mapping[str, int]
    arrays: Mapping[str, Values]
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    dimensions: Mapping[str, Dimensions] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The name of the folder for cases of this op."""
        return name_in(self.op.removeprefix(BY_REFERENCE).removesuffix(".py"))

    @property
    def elements(self) -> int:
        return sum(array.size for array in self.arrays.values())

    @property
    def is_vast(self) -> bool:
        """Whether an array is vast: too large to be filled (devices/memory/vast.py)."""
        return any(map(is_vast, self.arrays.values()))

    @property
    def digest(self) -> str:
        """sha256 over op, roles, shapes and bits, in hex."""
        total = hashlib.sha256(self.op.encode())
        for role in sorted(self.arrays):
            array = self.arrays[role]
            element = element_in(array)
            name = "" if element is F32 else f" {element}"
            total.update(f"\n{role} {'x'.join(map(str, array.shape))}{name}\n".encode())
            total.update(bytes_of(array))
        return total.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle vast arrays as their shapes: they have 8 GB each."""
        arrays = {role: array.shape if is_vast(array) else array for role, array in self.arrays.items()}
        return _rebuild, (self.op, self.axes, arrays, self.recipes, self.dimensions)

    @property
    def sizes(self) -> str:
        """`rows=1 cols=5`."""
        return " ".join(f"{name}={size}" for name, size in self.axes.items())

    def __repr__(self) -> str:
        return f"<Case {self}>"

    _repr_pretty_ = print_repr

    def __str__(self) -> str:
        """The case in words: `softmax rows=1 cols=5; x: -inf x2, 0 x3`."""
        return "; ".join([f"{shown_op(self.op)} {self.sizes}", *(f"{role}: {self.show(role)}" for role in self.arrays)])

    def show(self, role: str) -> str:
        """One array in words: its runs of equal bits if they are few, else its recipe."""
        words = describe_runs(self.arrays[role])
        if words is None and role in self.recipes:
            words = describe(self.recipes[role])
        array = self.arrays[role]
        return words or f"{array.size} values, first {format_value(bits_in(array).flat[0], element_in(array))}"


@dataclass(frozen=True)
class Origin:
    """Where a case comes from: the kernel that it broke, the launch, and the defect.

    `check`, `runs` and `seed` are the probe; the kernel has the name that `kfuzz list` shows.
    """

    kernel: str
    bucket: str
    kind: str
    message: str
    device: str
    tune: Mapping[str, int]
    check: bool = False
    runs: int = 3
    seed: int = 0
    minimized: bool = False
    severity: Severity = "error"


@dataclass(frozen=True)
class Record:
    """The content of a case file."""

    case: Case
    origin: Origin | None = None


def _rebuild(
    op: str,
    axes: Mapping[str, int],
    arrays: Mapping[str, Values | tuple[int, ...]],
    recipes: Mapping[str, Recipe],
    dimensions: Mapping[str, Dimensions],
) -> Case:
    whole = {role: make_unfilled(array) if isinstance(array, tuple) else array for role, array in arrays.items()}
    return Case(op, axes, whole, recipes, dimensions)


def case_for(
    kernel: Kernel, arrays: Mapping[str, Values | Recipe], dimensions: Mapping[str, Dimensions] | None = None
) -> Case:
    """The case with these arrays for a kernel, under the name that its op has in cases."""
    return replace(case_of(kernel.op, arrays, dimensions), op=kernel.op_in_case)


def case_of(op: str, arrays: Mapping[str, Values | Recipe], dimensions: Mapping[str, Dimensions] | None = None) -> Case:
    """The case with these arrays, each checked against the op's dimensions; a vector counts as one row.

    `dimensions` are needed for an op that is not here: then `op` is only its name.
    """
    if is_op(op) or dimensions is None:
        if not is_op(op) and not op.endswith(".py"):
            raise CaseError(f"op={op!r}: unknown op{hint(op)}")
        roles = roles_of(op)
    else:
        roles = Roles(op, dict(dimensions), {}, next(iter(dimensions.values()), ()) == ("rows", "cols"))
    if set(arrays) != set(roles.inputs):
        raise CaseError(f"arrays of {op} are {', '.join(roles.inputs)}; got {', '.join(sorted(arrays)) or 'none'}")
    axes: dict[str, int] = {}
    shaped: dict[str, Values] = {}
    recipes: dict[str, Recipe] = {}
    for role, wanted in roles.inputs.items():
        source = arrays[role]
        if isinstance(source, Recipe):
            values = source.values
            recipes[role] = source
        else:
            values = source if is_vast(source) else np.array(source, order="C")
        shaped[role] = _fit_rank(op, role, values, wanted, roles)
        _bind_axes(op, role, shaped[role].shape, wanted, axes)
    return Case(name_in_case(op), axes, shaped, recipes, roles.inputs)


def _fit_rank(op: str, role: str, values: Values, wanted: tuple[str, ...], roles: Roles) -> Values:
    """The array with the op's rank: a vector becomes one row, a recipe of one row or column becomes a vector."""
    if values.dtype != np.float32 and not element_in(values).is_narrow:
        raise CaseError(f"{role} of {op}: dtype={values.dtype}; float32 is expected, or a narrow type")
    if values.size > MAX_ELEMENTS and not is_vast(values):
        raise CaseError(f"{role} of {op}: {values.size} elements; at most {MAX_ELEMENTS} are allowed")
    shape: tuple[int, ...] = values.shape
    if len(wanted) == 2 and len(shape) == 1 and roles.takes_vector:
        shape = (1, *shape)
    elif len(wanted) == 1 and len(shape) == 2 and 1 in shape:
        shape = (values.size,)
    if len(shape) != len(wanted):
        raise CaseError(f"{role} of {op}: shape={list(shape)}; [{', '.join(wanted)}] is expected")
    view = values.reshape(shape)
    view.flags.writeable = False
    return view


def _bind_axes(op: str, role: str, shape: tuple[int, ...], wanted: tuple[str, ...], axes: dict[str, int]) -> None:
    for name, size in zip(wanted, shape, strict=True):
        if longer := longer_by(name):
            name, size = longer[0], size - longer[1]  # noqa: PLW2901  `batch + 1` gives the size of `batch`
        if is_derived(name):
            continue  # it follows from other sizes and the claim
        expected = int(name) if name.isdigit() else axes.setdefault(name, size)
        if size != expected:
            raise CaseError(f"{role} of {op}: {name}={size}; {name}={expected} is expected")


def element_in(array: Values) -> Element:
    """The element type of a case's array."""
    if array.dtype not in BY_DTYPE:
        raise CaseError(f"dtype={array.dtype}: no element type is stored so")
    return BY_DTYPE[array.dtype]


def numbers_in(array: Values) -> NDArray[Any]:
    """The numbers of an array, as float32 or, of a narrow type, as float64."""
    return array if array.dtype == np.float32 else values(array)


def bits_in(array: Values) -> BitPatterns:
    """The bit patterns of an array."""
    return array.view(f"u{array.dtype.itemsize}")


def bytes_of(array: Values) -> memoryview:
    """The bits of an array in C order, little-endian on every machine; not a copy on a little-endian one."""
    array = array[(slice(0, 1),) * array.ndim] if is_vast(array) else array  # every element is this one
    bits = bits_in(np.ascontiguousarray(array))
    return bits.astype(f"<u{bits.itemsize}", copy=False).reshape(-1).view(np.uint8).data


def describe_runs(array: Values, most: int = 6, groups: int = 3) -> str | None:
    """An array as runs of equal bits, "-inf x2, 0 x3", with equal rows joined; None if that would be long."""
    if array.size == 0:
        return "empty"
    if is_vast(array):
        return "0 and 1, seven kinds of row in turns"
    rows, element = bits_in(array).reshape(-1, array.shape[-1]), element_in(array)
    if len(rows) > 1 and (rows == rows[0, 0]).all():
        return f"{format_value(rows[0, 0], element)} everywhere"
    begins = np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(axis=1))))
    if len(begins) > groups:
        return None
    lines: list[str] = []
    for first, after in zip(begins.tolist(), [*begins[1:].tolist(), len(rows)], strict=True):
        words = _describe_row(rows[first], element, most)
        if words is None:
            return None
        which = f"row {first}" if after == first + 1 else f"rows {first}..{after - 1}"
        lines.append(f"{which}: {words}" if len(rows) > 1 else words)
    return "; ".join(lines)


def _describe_row(bits: BitPatterns, element: Element, most: int) -> str | None:
    starts = np.flatnonzero(np.concatenate(([True], bits[1:] != bits[:-1])))
    if len(starts) > most:
        return None
    lengths = np.diff(np.append(starts, len(bits)))
    runs = zip(bits[starts], lengths, strict=True)
    return ", ".join(format_value(one, element) + (f" x{length}" if length > 1 else "") for one, length in runs)


def format_value(bits: np.unsignedinteger[Any], element: Element) -> str:
    """A value as a person writes it; a NaN with its bits, since NaNs differ."""
    with np.errstate(invalid="ignore"):  # a signalling NaN
        value = float(values(np.array([bits]).view(element.dtype))[0])
    return f"nan({int(bits):0{2 * element.bytes}x})" if np.isnan(value) else f"{value:.9g}"
