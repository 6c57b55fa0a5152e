"""Wrong operators, terms and numbers."""

import ast
from collections.abc import Iterator

from kfuzz.measure.mutants.change import Change
from kfuzz.measure.mutants.python_syntax import PythonSource

OTHER: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}


def another_sign(source: PythonSource) -> Iterator[Change]:
    """`a + b` is `a - b`, `a * b` is `a / b`, and the other way round."""
    for node in source.every(ast.BinOp):
        if sign := OTHER.get(type(node.op)):
            yield source.put(node, f"({source.words(node.left)}) {sign} ({source.words(node.right)})")


def operand_left_out(source: PythonSource) -> Iterator[Change]:
    """One of the two operands of `a + b` or `a * b` is left out."""
    for node in source.every(ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            yield source.put(node, f"({source.words(node.left)})")
            yield source.put(node, f"({source.words(node.right)})")


def minus_left_out(source: PythonSource) -> Iterator[Change]:
    """`-x` is `x`; except for a whole number, which is mostly an axis."""
    for node in source.every(ast.UnaryOp):
        if isinstance(node.op, ast.USub) and not (
            isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int)
        ):
            yield source.put(node, source.words(node.operand))


def whole_number_plus_one(source: PythonSource) -> Iterator[Change]:
    """An integer is one more."""
    for node in source.every(ast.Constant):
        if type(node.value) is int and node.value != 1:  # 1 is an axis, mostly, or makes no mutant that runs
            yield source.put(node, str(node.value + 1))


def number_off(source: PythonSource) -> Iterator[Change]:
    """A decimal number is a hundredth more."""
    for node in source.every(ast.Constant):
        if type(node.value) is float:
            yield source.put(node, repr(node.value * 1.01))


def number_zero(source: PythonSource) -> Iterator[Change]:
    """A decimal number is zero."""
    for node in source.every(ast.Constant):
        if type(node.value) is float and node.value:
            yield source.put(node, "0.0")
