"""The op that a kernel computes, without the optional inputs and dimensions that its arrays do not have.

Knows the arrays of claims and the parameters of functions as text; never what an op computes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from kfuzz.claims.language.arrays import ARRAY
from kfuzz.claims.language.python_text import PythonFunction
from kfuzz.common.text.cuda_text import split_commas
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.spelling import name_in, optional_inputs, without

OP_FILE = ".py"
"""The end of the name of an op in a file of its own, which has all its inputs."""
DIMENSION = ("dim", "axis")
"""Parameters whose value is the dimension along which an op works."""
OUTPUT = ("out", "output", "y", "o", "dst", "result", "res")
"""Parameters that take an output array."""


def fit_to_arrays(name: str, arrays: Mapping[str, str]) -> str:
    """The op for the arrays of a claim."""
    if name.endswith(OP_FILE):
        return name
    op = find(name)
    written = [found for text in arrays.values() if (found := ARRAY.fullmatch(text.strip()))]
    inputs = {found[4]: len(list(split_commas(found[2]))) for found in written if found[4]}
    outputs = {found[5]: len(list(split_commas(found[2]))) for found in written if found[5]}
    if not inputs.keys() <= op.inputs.keys() or not outputs.keys() <= op.outputs.keys():
        return name
    ranks = [(op.inputs[role], rank) for role, rank in inputs.items()]
    ranks += [(op.outputs[role], rank) for role, rank in outputs.items()]
    missing = [role for role in optional_inputs(op) if role not in inputs]
    dimensions = [
        one for one in optional_dimensions(op)
        if all(rank == len(role.dimensions) - 1 for role, rank in ranks if one in role.dimensions)
    ]  # fmt: skip
    return leave_out(name, missing, dimensions)


def fit_to_function(
    name: str, function: PythonFunction | None, args: Sequence[str] | None, given: Sequence[str]
) -> str:
    """The op for a Python function: by its arguments in the claim, else by the parameters that may be arrays.

    `args` are the names among the arguments; `given` the parameters that have values.
    """
    if name.endswith(OP_FILE):
        return name
    op = find(name)
    dimensions = optional_dimensions(op) if name_in(name) == name else []
    optional = optional_inputs(op)
    if args is not None:
        return leave_out(name, [role for role in optional if role not in args], dimensions)
    if function is None or function.is_variadic:
        return leave_out(name, [], dimensions)
    sizes = {size for role in op.inputs.values() for size in role.dimensions}
    no_arrays = {*given, *DIMENSION, *sizes, *OUTPUT} - op.inputs.keys()
    slots = [one for one in (*function.required, *function.none_by_default) if one not in no_arrays]
    count = sum(dict(function.unpacked).get(one, 1) for one in slots)
    unnamed = [role for role in reversed(optional) if role not in slots] + [
        role for role in reversed(optional) if role in slots
    ]
    return leave_out(name, unnamed[: max(0, len(op.inputs) - count)], dimensions)


def variants_of(name: str) -> Iterator[str]:
    """The op with all its inputs, then without optional ones; each without the optional dimensions first."""
    if name.endswith(OP_FILE):
        return iter([name])
    name = full_name(name)
    op = find(name)
    optional = optional_inputs(op)
    dimensions = optional_dimensions(op) if name_in(name) == name else []
    every = (missing for count in range(len(optional) + 1) for missing in combinations(reversed(optional), count))
    found = [
        leave_out(name, missing, left) for missing in every for left in ((dimensions, []) if dimensions else ([],))
    ]
    return iter(dict.fromkeys(found))


def place_axis(name: str, arguments: Mapping[str, Sequence[str]]) -> str:
    """The op along the dimension that an argument `dim` or `axis` names, if that is not the last one of a matrix."""
    if name.endswith(OP_FILE):
        return name
    name = full_name(name)
    op = find(name)
    role, first = next(iter(op.inputs.items()))
    said = [value for key, values in arguments.items() if key in DIMENSION for value in values]
    if name_in(name) != name or first.dimensions != ("rows", "cols") or len(said) != 1:
        return name
    dimensions = {"0": "cols, rows", "-2": "rows, cols, inner", "2": "batch, rows, cols"}.get(said[0])
    return find(f"{name}({role}[{dimensions}]{_others(op, role)})").name if dimensions else name


def _others(op: Op, first: str) -> str:
    return "".join(f", {role}" for role in op.inputs if role != first)


def optional_dimensions(op: Op) -> list[str]:
    """The dimensions that the arrays of a kernel may not have."""
    every = {size for role in op.inputs.values() for size in role.dimensions}
    return [name for name in op.optional if name in every]


def leave_out(name: str, roles: Sequence[str], dimensions: Sequence[str]) -> str:
    """The name of the op without these inputs and dimensions."""
    return find(without(find(name), roles, dimensions)).name if roles or dimensions else name


def full_name(name: str) -> str:
    """An op by its own name and arrays: `gemm(a, b)` for `bmm`."""
    return find(name).name
