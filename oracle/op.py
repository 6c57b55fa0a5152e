"""What a module in `oracle/ops/` provides, and how its inputs are checked.

An op is found by its file name; nothing is registered.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle import ops
from kfuzz.oracle.enclosure import Doubles, Enclosure, Index, Mask
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.systems.formats import DTYPES
from kfuzz.oracle.verdict import Special

Floats = NDArray[np.float32]


class OracleError(ValueError):
    """The question itself is wrong: names the value, what was expected, and what to do."""


@dataclass(frozen=True)
class Diagnosis:
    """What the error looks like: a stable label, and a sentence with this case's numbers."""

    label: str
    detail: str = ""


class Op(Protocol):
    """A module of `oracle/ops/`: the shapes, the definition, the enclosure and the diagnosis of one op.

    `INPUTS` and `OUTPUTS` map each role to its dimensions; `VECTOR` says that a [rows, cols] input may be one row, [n].
    A dimension that only answers have is as long as they are, and is handed to `enclose` by its name.
    """

    @property
    def INPUTS(self) -> Mapping[str, tuple[str, ...]]: ...  # noqa: N802  as a module has them
    @property
    def OUTPUTS(self) -> Mapping[str, tuple[str, ...]]: ...  # noqa: N802
    @property
    def VECTOR(self) -> bool: ...  # noqa: N802

    def define(self, N: Number, inputs: Mapping[str, Vector]) -> dict[str, Vector]: ...

    def enclose(self, inputs: Mapping[str, Floats], accuracy: Accuracy, special: Special) -> dict[str, Enclosure]: ...

    def diagnose(
        self,
        inputs: Mapping[str, Floats],
        output: str,
        got: Doubles,
        enclosure: Enclosure,
        wrong: Mask,
        worst: Index,
    ) -> Diagnosis: ...


def cut_of(op: Op) -> Mapping[str, int]:
    """The axis of each array along which an op falls apart: what of one place enters no other's answer.

    An array that is not named is needed whole at each place; empty where the op does not fall apart.
    """
    by_row = dict.fromkeys((*op.INPUTS, *op.OUTPUTS), 0) if op.VECTOR else {}
    found: Mapping[str, int] = getattr(op, "CUT", by_row)
    return found


@cache
def op_names() -> tuple[str, ...]:
    """Every op, by the folder listing."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(ops.__path__)))


def module_of(name: str) -> Any:  # noqa: ANN401  a module of `oracle/ops/`
    """The file of the op of that name."""
    if name not in op_names():
        raise OracleError(f"op={name!r}: unknown; the oracle has {', '.join(op_names())}")
    return importlib.import_module(f"{ops.__name__}.{name}")


def check_inputs(name: str, op: Op, inputs: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """The inputs as the op wants them, [rows, cols] where they came as [n], or an error that names the culprit."""
    check_roles(name, "inputs", inputs, op.INPUTS)
    sizes: dict[str, int] = {}
    checked = {}
    for role, dimensions in op.INPUTS.items():
        array = as_rows(op, _checked(f"{name}: inputs[{role!r}]", inputs[role], op, role), dimensions)
        if array.ndim != len(dimensions):
            wanted = f"[{', '.join(dimensions)}]" + (" or [n]" if op.VECTOR else "")
            raise OracleError(f"{name}: inputs[{role!r}].shape={inputs[role].shape}: expected {wanted}")
        for dimension, size in zip(dimensions, array.shape, strict=True):
            if sizes.setdefault(dimension, size) != size:
                raise OracleError(
                    f"{name}: inputs[{role!r}].shape={inputs[role].shape}: {dimension} is {size} here "
                    f"and {sizes[dimension]} elsewhere; the inputs must agree"
                )
        checked[role] = array
    for role, below in getattr(op, "BELOW", {}).items():
        check_integers(f"{name}: inputs[{role!r}]", checked[role], sizes.get(below))
    admits = getattr(op, "admits", None)
    if admits is not None and not admits(sizes):
        raise OracleError(f"{name}: sizes {sizes}: expected {' and '.join(getattr(op, 'where', ()))}")
    return checked


def _checked(what: str, array: NDArray[Any], op: Op, role: str) -> Floats:
    """An array of the type that its role wants: float32, unless the op takes any float."""
    if role in getattr(op, "INTEGERS", ()):
        return check_integers(what, array, None)
    return check_floats(what, array, only_float32=not takes_any_float(op))


def takes_any_float(op: object) -> bool:
    """Whether the op is judged in any format: a formula is, and what only compares."""
    return hasattr(op, "calls") or getattr(op, "ANY_FLOAT", False)


def own_sizes(op: Op, inputs: Mapping[str, NDArray[Any]], answers: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """The dimensions that only answers have, such as the k of a top_k: their sizes are the answers' own."""
    known = {dimension for dimensions in op.INPUTS.values() for dimension in dimensions} | {"1"}
    sizes: dict[str, int] = {}
    for role, dimensions in op.OUTPUTS.items():
        shape = answers[role].shape
        for dimension, size in zip(dimensions[len(dimensions) - len(shape) :], shape[-len(dimensions) :], strict=False):
            if dimension not in known and sizes.setdefault(dimension, size) != size:
                raise OracleError(
                    f"got[{role!r}].shape={shape}: {dimension} is {size} here and {sizes[dimension]} elsewhere"
                )
    return sizes


def check_outputs(
    name: str, op: Op, inputs: Mapping[str, NDArray[Any]], got: Mapping[str, NDArray[Any]]
) -> dict[str, Floats]:
    """The answers in the op's own shapes, or an error that names the culprit."""
    check_roles(name, "got", got, op.OUTPUTS)
    sizes = {
        dimension: size
        for role, dimensions in op.INPUTS.items()
        for dimension, size in zip(dimensions, inputs[role].shape, strict=True)
    }
    arrays = {role: _checked(f"{name}: got[{role!r}]", got[role], op, role) for role in op.OUTPUTS}
    sizes |= own_sizes(op, inputs, arrays)
    checked = {}
    for role, dimensions in op.OUTPUTS.items():
        wanted = tuple(sizes.get(dimension, 1) for dimension in dimensions)
        array = arrays[role]
        shaped = as_rows(op, array, dimensions)
        if shaped.size == np.prod(wanted) == 1 or (op.VECTOR and array.ndim == 0):
            shaped = array.reshape(wanted)
        if shaped.shape != wanted:
            raise OracleError(f"{name}: got[{role!r}].shape={array.shape}: expected {wanted}, from the inputs")
        checked[role] = shaped
    return checked


def as_rows(op: Op, array: Floats, dimensions: tuple[str, ...]) -> Floats:
    """[n] as one row of [rows, cols], where the op speaks of rows."""
    return array.reshape(1, -1) if op.VECTOR and len(dimensions) == 2 and array.ndim == 1 else array


def check_roles(name: str, what: str, given: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    """An error when roles are missing or unknown."""
    if not isinstance(given, Mapping):
        raise OracleError(
            f"{name}: {what} is a {type(given).__name__}: expected a dict of arrays by {', '.join(wanted)}"
        )
    if set(given) != set(wanted):
        raise OracleError(f"{name}: {what} has {', '.join(given) or 'nothing'}: expected {', '.join(wanted)}")


def check_floats(what: str, array: NDArray[Any], only_float32: bool = True) -> Floats:
    """The array itself, or an error when it is no float32 array, or of no float type that a formula is judged in."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise OracleError(f"{what} is a {type(array).__name__}: expected a float32 array; use numpy.asarray(..., 'f4')")
    if only_float32 and array.dtype != np.float32:
        raise OracleError(f"{what}.dtype={array.dtype}: expected float32; convert with .astype('f4') if that is meant")
    if array.dtype not in DTYPES:
        known = "float32, float64, float16 or uint16 (the bits of bfloat16)"
        raise OracleError(f"{what}.dtype={array.dtype}: expected {known}")
    return array


def check_integers(what: str, array: NDArray[Any], below: int | None) -> NDArray[Any]:
    """The array itself, or an error when it holds no integers, or one out of range."""
    if not isinstance(array, np.ndarray) or not np.issubdtype(array.dtype, np.integer):
        raise OracleError(f"{what}: expected an array of integers")
    if below is not None and array.size and not (array.min() >= 0 and array.max() < below):
        raise OracleError(f"{what} has {int(array.min())}..{int(array.max())}: expected 0..{below - 1}")
    return array
