"""Wrong functions, arguments and statements that are left out."""

import ast
from collections.abc import Iterator
from itertools import chain

from kfuzz.measure.mutants.change import Change
from kfuzz.measure.mutants.python_syntax import PythonSource

ANOTHER = {
    "max": "min", "min": "max", "amax": "amin", "amin": "amax", "maximum": "minimum", "minimum": "maximum",
    "sum": "mean", "mean": "sum", "exp": "exp2", "exp2": "exp", "sqrt": "rsqrt", "rsqrt": "sqrt", "log": "log2",
    "var": "std", "std": "var", "zeros": "empty", "zeros_like": "empty_like", "sin": "cos", "cos": "sin",
    "atomic_add": "store", "softmax": "log_softmax", "matmul": "add", "cumsum": "cumprod",
}  # fmt: skip
"""A function that people confuse with another."""
NARROWER = {"float64": "float32", "float32": "float16", "float": "half"}
"""A type that holds less."""
POINTWISE = ("exp", "log", "sqrt", "rsqrt", "abs", "tanh", "sigmoid", "contiguous", "square", "relu", "clone")


def another_function(source: PythonSource) -> Iterator[Change]:
    """`max` is `min`, `sum` is `mean`, `zeros` is `empty`, and the like."""
    for node in source.every(ast.Attribute):
        if other := ANOTHER.get(node.attr):
            yield source.put(node, f"{source.words(node.value)}.{other}")


def function_left_out(source: PythonSource) -> Iterator[Change]:
    """`exp(x)` is `x`, and so is `x.exp()`."""
    for call in source.every(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in POINTWISE:
            yield source.put(call, f"({source.words(call.args[0] if call.args else call.func.value)})")


def narrower_type(source: PythonSource) -> Iterator[Change]:
    """A type that holds half as much."""
    for node in source.every(ast.Attribute):
        if other := NARROWER.get(node.attr):
            yield source.put(node, f"{source.words(node.value)}.{other}")


def argument_left_out(source: PythonSource) -> Iterator[Change]:
    """An argument by name, such as `mask=`, `other=` or `keepdim=`, is left out."""
    for call in source.every(ast.Call):
        for keyword in call.keywords:
            if keyword.arg is not None:
                args = [source.words(arg) for arg in call.args]
                args += [
                    f"{one.arg}={source.words(one.value)}" for one in call.keywords if one.arg and one is not keyword
                ]
                yield source.put(call, f"{source.words(call.func)}({', '.join(args)})")


def another_axis(source: PythonSource) -> Iterator[Change]:
    """Along the first axis for the last, and the other way round."""
    every = (
        chain(call.args, (word.value for word in call.keywords if word.arg in ("dim", "axis")))
        for call in source.every(ast.Call)
    )
    for node in chain.from_iterable(every):
        if source.words(node) in ("-1", "1"):
            yield source.put(node, "0")
        elif source.words(node) == "0":
            yield source.put(node, "1")


def swapped_indices(source: PythonSource) -> Iterator[Change]:
    """`x.shape[0]` is `x.shape[1]`, `program_id(0)` is that of another axis."""
    for node in source.every(ast.Subscript):
        if (
            isinstance(node.value, ast.Attribute)
            and node.value.attr == "shape"
            and isinstance(node.slice, ast.Constant)
        ):
            yield source.put(node.slice, "1" if node.slice.value == 0 else "0")


def statement_left_out(source: PythonSource) -> Iterator[Change]:
    """A statement that adds to a value, or is a call, is left out."""
    for node in chain(source.every(ast.AugAssign), source.every(ast.Expr)):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield source.put(node, "pass")


def update_as_assignment(source: PythonSource) -> Iterator[Change]:
    """`s += x` is `s = x`."""
    for node in source.every(ast.AugAssign):
        yield source.put(node, f"{source.words(node.target)} = {source.words(node.value)}")
