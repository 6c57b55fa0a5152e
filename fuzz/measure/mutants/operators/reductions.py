"""How values are reduced: maximum, sum, which of them count."""

from collections.abc import Iterator

from tree_sitter import Node

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import Source, arguments, callee, enclosing, field, is_within, operator, words


def max_as_min(source: Source) -> Iterator[Change]:
    """fminf for fmaxf."""
    for call in _calls(source, "fmaxf"):
        yield put(field(call, "function"), "fminf")


def max_as_sum(source: Source) -> Iterator[Change]:
    """The sum where the maximum should be."""
    for call in _calls(source, "fmaxf"):
        first, second = map(words, arguments(call))
        yield put(call, f"({first} + {second})")


def max_forgets(source: Source) -> Iterator[Change]:
    """The first or the second value where the maximum of both should be."""
    for name in ("fmaxf", "min", "max"):
        for call in _calls(source, name):
            for one in arguments(call):
                yield put(call, f"({words(one)})")


def overwritten(source: Source) -> Iterator[Change]:
    """= for +=: only the last element counts."""
    for node in _statements(source):
        if operator(node) in ("+=", "*="):
            yield put(field(node, "operator"), "=")


def subtracted(source: Source) -> Iterator[Change]:
    """-= for +=."""
    for node in _statements(source):
        if operator(node) == "+=":
            yield put(field(node, "operator"), "-=")


def accumulated(source: Source) -> Iterator[Change]:
    """+= for =: the old value still counts."""
    for node in _statements(source):
        if operator(node) == "=":
            yield put(field(node, "operator"), "+=")


def counted_twice(source: Source) -> Iterator[Change]:
    """A statement that accumulates is executed twice."""
    for node in _statements(source):
        statement = node.parent
        if operator(node) in ("+=", "*=") and statement is not None and statement.type == "expression_statement":
            yield put(statement, f"{{ {words(statement)} {words(statement)} }}")


def statement_dropped(source: Source) -> Iterator[Change]:
    """An assignment or a call is left out (except barriers, whose operator is drop barrier)."""
    for statement in source.nodes("expression_statement"):
        inner = statement.named_children[0] if statement.named_children else statement
        is_call = inner.type == "call_expression" and not callee(inner).startswith("__sync")
        if inner.type == "assignment_expression" or is_call:
            yield put(statement, ";")


def double_as_float(source: Source) -> Iterator[Change]:
    """float for double."""
    for node in source.nodes("primitive_type"):
        if words(node) == "double":
            yield put(node, "float")


def _calls(source: Source, name: str) -> Iterator[Node]:
    for call in source.nodes("call_expression"):
        if callee(call) == name and len(arguments(call)) == 2:
            yield call


def _statements(source: Source) -> Iterator[Node]:
    """Every assignment except those that step a loop."""
    for node in source.nodes("assignment_expression"):
        loop = enclosing(node, "for_statement")
        if loop is None or not is_within(node, loop.child_by_field_name("update")):
            yield node
