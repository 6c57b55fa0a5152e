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
from kfuzz.oracle import ops
from kfuzz.oracle.enclosure import Doubles, Enclosure, Index, Mask
from kfuzz.oracle.number import Number, Vector
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.verdict import Special
from numpy.typing import NDArray

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
    """

    INPUTS: Mapping[str, tuple[str, ...]]
    OUTPUTS: Mapping[str, tuple[str, ...]]
    VECTOR: bool

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


@cache
def op_names() -> tuple[str, ...]:
    """Every op, by the folder listing."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(ops.__path__)))


def find(name: str) -> Op:
    """The op of that name."""
    if name not in op_names():
        raise OracleError(f"op={name!r}: unknown; the oracle has {', '.join(op_names())}")
    module: Any = importlib.import_module(f"{ops.__name__}.{name}")
    op: Op = module
    return op


def check_inputs(name: str, op: Op, inputs: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """The inputs as the op wants them, [rows, cols] where they came as [n], or an error that names the culprit."""
    check_roles(name, "inputs", inputs, op.INPUTS)
    sizes: dict[str, int] = {}
    checked = {}
    for role, dimensions in op.INPUTS.items():
        array = as_rows(op, check_float32(f"{name}: inputs[{role!r}]", inputs[role]), dimensions)
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
    return checked


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
    checked = {}
    for role, dimensions in op.OUTPUTS.items():
        wanted = tuple(sizes.get(dimension, 1) for dimension in dimensions)
        array = check_float32(f"{name}: got[{role!r}]", got[role])
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


def check_float32(what: str, array: NDArray[Any]) -> Floats:
    """The array itself, or an error when it is no float32 array."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise OracleError(f"{what} is a {type(array).__name__}: expected a float32 array; use numpy.asarray(..., 'f4')")
    if array.dtype != np.float32:
        raise OracleError(f"{what}.dtype={array.dtype}: expected float32; convert with .astype('f4') if that is meant")
    return array
