"""Inputs and answers in the shapes that an op declares, or an error that names the wrong array."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import BY_DTYPE, OF_DTYPE
from kfuzz.oracle.numbers.enclosure import Floats
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import Role
from kfuzz.oracle.op.shapes import lengths_of, names_in


def check_inputs(
    name: str, op: Op, inputs: Mapping[str, NDArray[Any]], scalars: Mapping[str, float | str] | None = None
) -> dict[str, Floats]:
    """Return the inputs in the op's shapes, [n] as one row of [rows, cols]; raise an error that names a wrong one."""
    check_roles(name, "inputs", inputs, op.inputs)
    sizes: dict[str, int] = {}
    checked = {}
    for role, declared in op.inputs.items():
        dimensions = declared.dimensions
        array = as_rows(op, _check_array(f"{name}: inputs[{role!r}]", inputs[role], op, declared), dimensions)
        if array.ndim != len(dimensions):
            wanted = f"[{', '.join(dimensions)}]" + (" or [n]" if op.takes_vector else "")
            raise OracleError(f"{name}: inputs[{role!r}].shape={inputs[role].shape}: expected {wanted}")
        for dimension, size in lengths_of(zip(dimensions, array.shape, strict=True)).items():
            if sizes.setdefault(dimension, size) != size:
                raise OracleError(
                    f"{name}: inputs[{role!r}].shape={inputs[role].shape}: {dimension} is {size} here "
                    f"and {sizes[dimension]} elsewhere; the inputs must agree"
                )
        checked[role] = array
    sizes = op.add_axes(sizes, scalars or {})
    for role, declared in op.inputs.items():
        for dimension in declared.derived:
            found = checked[role].shape[declared.dimensions.index(dimension)]
            if found != sizes[dimension]:
                because = " and ".join(f"{one} is {sizes[one]}" for one in sorted(names_in(dimension)))
                raise OracleError(
                    f"{name}: inputs[{role!r}].shape={inputs[role].shape}: {dimension} is {found} here; expected "
                    f"{sizes[dimension]}, because {because}"
                )
    for role, declared in op.inputs.items():
        if declared.below:
            check_integers(f"{name}: inputs[{role!r}]", checked[role], declared.limit(sizes))
    if not op.admits(sizes):
        raise OracleError(f"{name}: sizes {sizes}: expected {' and '.join(op.where)}")
    for role, declared in op.inputs.items():
        if declared.structure and not declared.structure.has(checked[role], sizes):
            raise OracleError(f"{name}: inputs[{role!r}]: expected {declared.structure}, with {sizes}")
    return checked


def _check_array(what: str, array: NDArray[Any], op: Op, role: Role) -> Floats:
    """Return the array if its type fits its role."""
    if not role.is_float:
        return check_integers(what, array, TRUTHS if role.is_truth else None)
    if role.is_grid:
        element = BY_DTYPE.get(array.dtype) if isinstance(array, np.ndarray) else None
        if element is None or not element.is_narrow:
            raise OracleError(f"{what}: expected an array of a type of 8 bits or fewer, such as e4m3 or i8")
        return array
    return check_floats(what, array, only_float32=not op.takes_any_float)


def answer_sizes(op: Op, answers: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """The sizes of the dimensions that only answers have, such as the k of a top_k."""
    known, sizes = op.given_dimensions, dict[str, int]()
    for role, declared in op.outputs.items():
        dimensions, shape = declared.dimensions, answers[role].shape
        for dimension, size in zip(dimensions[len(dimensions) - len(shape) :], shape[-len(dimensions) :], strict=False):
            if dimension not in known and sizes.setdefault(dimension, size) != size:
                raise OracleError(
                    f"got[{role!r}].shape={shape}: {dimension} is {size} here and {sizes[dimension]} elsewhere"
                )
    return sizes


def check_outputs(
    name: str, op: Op, inputs: Mapping[str, NDArray[Any]], got: Mapping[str, NDArray[Any]],
    scalars: Mapping[str, float | str] | None = None,
) -> dict[str, Floats]:  # fmt: skip
    """Return the answers in the op's shapes; raise an error that names a wrong one."""
    check_roles(name, "got", got, op.outputs)
    sizes = op.sizes_of(inputs, scalars)
    arrays = {
        role: _check_array(f"{name}: got[{role!r}]", got[role], op, declared) for role, declared in op.outputs.items()
    }
    sizes |= answer_sizes(op, arrays)
    checked = {}
    for role, declared in op.outputs.items():
        wanted = tuple(sizes.get(dimension, 1) for dimension in declared.dimensions)
        array = arrays[role]
        shaped = as_rows(op, array, declared.dimensions)
        if shaped.size == prod(wanted) == 1 or (op.takes_vector and array.ndim == 0):
            shaped = array.reshape(wanted)
        if shaped.shape != wanted:
            raise OracleError(f"{name}: got[{role!r}].shape={array.shape}: expected {wanted}, from the inputs")
        if declared.is_float and op.selects and op.gives_sets:
            _check_selected(f"{name}: got[{role!r}]", array, [inputs[one] for one in op.inputs], name)
        checked[role] = shaped
    return checked


def _check_selected(what: str, array: Floats, inputs: Sequence[NDArray[Any]], name: str) -> None:
    """Raise an error if what an op selects from its inputs would have to be rounded."""
    given, found = OF_DTYPE.get(inputs[0].dtype), OF_DTYPE.get(array.dtype)
    if given and found and not found.holds(given):
        raise OracleError(
            f"{what}.dtype={array.dtype}: expected {inputs[0].dtype}, as its input has, or a type that holds all its "
            f"numbers: {name} selects"
        )


def as_rows(op: Op, array: Floats, dimensions: tuple[str, ...]) -> Floats:
    """Return [n] as one row of [rows, cols], where the op takes a vector."""
    return array.reshape(1, -1) if op.takes_vector and len(dimensions) == 2 and array.ndim == 1 else array


def check_roles(name: str, what: str, given: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    """Raise an error if roles are missing or unknown."""
    if not isinstance(given, Mapping):
        raise OracleError(
            f"{name}: {what} is a {type(given).__name__}: expected a dict of arrays by {', '.join(wanted)}"
        )
    if set(given) != set(wanted):
        raise OracleError(f"{name}: {what} has {', '.join(given) or 'nothing'}: expected {', '.join(wanted)}")


def check_floats(what: str, array: NDArray[Any], only_float32: bool = True) -> Floats:
    """Return the array; raise an error if it is not float32, or not of a float type in which formulas are judged."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise OracleError(f"{what} is a {type(array).__name__}: expected a float32 array; use numpy.asarray(..., 'f4')")
    if only_float32 and array.dtype != np.float32:
        raise OracleError(f"{what}.dtype={array.dtype}: expected float32; convert with .astype('f4') if you mean that")
    if array.dtype not in OF_DTYPE:
        known = "float32, float64, float16 or uint16 (the bits of bfloat16)"
        raise OracleError(f"{what}.dtype={array.dtype}: expected {known}")
    return array


TRUTHS = 2
"""Below this an array may hold truths, too."""


def check_integers(what: str, array: NDArray[Any], below: int | None) -> NDArray[Any]:
    """Return the array; raise an error if it does not hold integers, or holds one out of range."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in ("iub" if below == TRUTHS else "iu"):
        raise OracleError(f"{what}: expected an array of integers")
    if below is not None and array.size and not (array.min() >= 0 and array.max() < below):
        raise OracleError(f"{what} has {int(array.min())}..{int(array.max())}: expected 0..{below - 1}")
    return array
