"""Which threads take part, and how far: comparisons, bounds, branches, choices."""

from collections.abc import Iterator

from tree_sitter import Node

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import Source, field, function_of, operator, strip_parentheses, walk, words

NEIGHBOUR = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ORDERED = ("<", "<=", ">", ">=")


def relational(source: Source) -> Iterator[Change]:
    """< for <=, > for >=, == for != and the other way round."""
    for node in source.nodes("binary_expression"):
        if operator(node) in NEIGHBOUR:
            yield put(field(node, "operator"), NEIGHBOUR[operator(node)])


def reversed_comparison(source: Source) -> Iterator[Change]:
    """< for > and the other way round."""
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    for node in _comparisons(source):
        yield put(field(node, "operator"), turned[operator(node)])


def bound_less_one(source: Source) -> Iterator[Change]:
    """n - 1 for the bound n."""
    for node in _bounded(source):
        yield _off(field(node, "right"), "- 1")


def bound_plus_one(source: Source) -> Iterator[Change]:
    """n + 1 for the bound n."""
    for node in _bounded(source):
        yield _off(field(node, "right"), "+ 1")


def negated_condition(source: Source) -> Iterator[Change]:
    """The threads that should not take a branch take it."""
    for node in source.nodes("if_statement"):
        condition = strip_parentheses(field(node, "condition"))
        yield put(condition, f"!({words(condition)})")


def guard_dropped(source: Source) -> Iterator[Change]:
    """Every thread takes a branch."""
    for node in source.nodes("if_statement"):
        if node.child_by_field_name("alternative") is None:
            condition = strip_parentheses(field(node, "condition"))
            yield put(condition, f"({words(condition)}) || true")


def branch_removed(source: Source) -> Iterator[Change]:
    """No thread takes a branch: no tail, no head, no early return."""
    for node in source.nodes("if_statement"):
        condition = strip_parentheses(field(node, "condition"))
        yield put(condition, f"({words(condition)}) && false")


def conjunct_dropped(source: Source) -> Iterator[Change]:
    """One of two conditions is not checked."""
    for node in source.nodes("binary_expression"):
        if operator(node) in ("&&", "||"):
            yield put(node, words(field(node, "left")))
            yield put(node, words(field(node, "right")))


def other_conjunction(source: Source) -> Iterator[Change]:
    """&& for || and the other way round."""
    for node in source.nodes("binary_expression"):
        if operator(node) in ("&&", "||"):
            yield put(field(node, "operator"), "||" if operator(node) == "&&" else "&&")


def choice_dropped(source: Source) -> Iterator[Change]:
    """One side of ?: for either value of the condition."""
    for node in source.nodes("conditional_expression"):
        yield put(node, f"({words(field(node, 'consequence'))})")
        yield put(node, f"({words(field(node, 'alternative'))})")


def _comparisons(source: Source) -> Iterator[Node]:
    for node in source.nodes("binary_expression"):
        if operator(node) in ORDERED:
            yield node


def _bounded(source: Source) -> Iterator[Node]:
    """The comparisons of integers: a float that is compared, such as a maximum, is not a bound."""
    for node in _comparisons(source):
        function = function_of(node)
        known = source.variables(function) if function else {}
        names = [words(one) for one in walk(node) if one.type == "identifier"]
        floats = [name for name in names if name == "INFINITY" or (name in known and known[name].type == "float")]
        if not floats:
            yield node


def _off(bound: Node, step: str) -> Change:
    return put(bound, f"({words(bound)} {step})")
