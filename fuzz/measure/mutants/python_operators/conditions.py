"""Comparisons, masks and loops whose bounds are off."""

import ast
from collections.abc import Iterator

from kfuzz.measure.mutants.change import Change
from kfuzz.measure.mutants.python_syntax import PythonSource

NEXT: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
}


def bound_off_by_one(source: PythonSource) -> Iterator[Change]:
    """`<` is `<=`, `>` is `>=`, `==` is `!=`, and the other way round."""
    for node in source.every(ast.Compare):
        if len(node.ops) == 1 and (sign := NEXT.get(type(node.ops[0]))):
            yield source.put(node, f"{source.words(node.left)} {sign} {source.words(node.comparators[0])}")


def half_of_a_condition(source: PythonSource) -> Iterator[Change]:
    """Of `a & b` or `a and b` one is left out."""
    for node in source.every(ast.BinOp):
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            yield source.put(node, source.words(node.left))
            yield source.put(node, source.words(node.right))
    for test in source.every(ast.BoolOp):
        for value in test.values:
            yield source.put(test, source.words(value))


def condition_turned(source: PythonSource) -> Iterator[Change]:
    """An `if` is taken when it should not be."""
    for node in source.every(ast.If):
        yield source.put(node.test, f"not ({source.words(node.test)})")
    for choice in source.every(ast.IfExp):
        yield source.put(choice.test, f"not ({source.words(choice.test)})")


def range_starts_late(source: PythonSource) -> Iterator[Change]:
    """A loop leaves out its first turn."""
    for call in _ranges(source):
        start, stop, step = _parts(source, call)
        yield source.put(call, f"{source.words(call.func)}({start} + {step}, {stop}, {step})")


def range_ends_early(source: PythonSource) -> Iterator[Change]:
    """A loop leaves out its last turn."""
    for call in _ranges(source):
        start, stop, step = _parts(source, call)
        yield source.put(call, f"{source.words(call.func)}({start}, ({stop}) - ({step}), {step})")


def range_steps_twice(source: PythonSource) -> Iterator[Change]:
    """A loop takes every other turn."""
    for call in _ranges(source):
        start, stop, step = _parts(source, call)
        yield source.put(call, f"{source.words(call.func)}({start}, {stop}, 2 * ({step}))")


def _ranges(source: PythonSource) -> Iterator[ast.Call]:
    for call in source.every(ast.Call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in ("range", "static_range") and 1 <= len(call.args) <= 3:
            yield call


def _parts(source: PythonSource, call: ast.Call) -> tuple[str, str, str]:
    """Start, stop and step."""
    args = [source.words(arg) for arg in call.args]
    return ("0", args[0], "1") if len(args) == 1 else (args[0], args[1], args[2] if len(args) == 3 else "1")
