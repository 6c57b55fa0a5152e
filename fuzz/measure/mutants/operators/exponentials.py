"""exp, the number that is subtracted in its argument, and the sums that it rescales."""

from collections.abc import Iterator

from tree_sitter import Node

from kfuzz.measure.mutants import syntax
from kfuzz.measure.mutants.change import Change, put


def rescale_dropped(source: syntax.Source) -> Iterator[Change]:
    """A sum is not rescaled to the new maximum: the factor exp(...) is left out."""
    for call in _exps(source):
        parent = call.parent
        if parent is not None and parent.type == "binary_expression" and syntax.operator(parent) == "*":
            other = (
                syntax.field(parent, "left") if syntax.field(parent, "right") == call else syntax.field(parent, "right")
            )
            yield put(parent, syntax.words(other))
        elif parent is not None and parent.type == "assignment_expression" and syntax.operator(parent) == "*=":
            yield put(call, "1.0f")


def exponent_inverted(source: syntax.Source) -> Iterator[Change]:
    """exp(b - a) for exp(a - b)."""
    for call, left, right in _differences(source):
        yield put(syntax.arguments(call)[0], f"{syntax.words(right)} - {syntax.words(left)}")


def shift_dropped(source: syntax.Source) -> Iterator[Change]:
    """exp(a) for exp(a - b): no maximum is subtracted."""
    for call, left, _ in _differences(source):
        yield put(syntax.arguments(call)[0], syntax.words(left))


def wrong_shift(source: syntax.Source) -> Iterator[Change]:
    """exp(a - c) for exp(a - b), where c is each other float that is known there: the wrong maximum."""
    for call, left, right in _differences(source):
        function = syntax.function_of(call)
        for other in source.variables(function).values() if function else ():
            is_other = other.name not in (syntax.words(left), syntax.words(right))
            if other.type == "float" and not other.is_array and is_other and other.known_from < call.start_byte:
                yield put(right, other.name)


def exp_fast(source: syntax.Source) -> Iterator[Change]:
    """__expf for expf, where the claim says expf."""
    for call in _exps(source):
        yield put(syntax.field(call, "function"), "__expf")


def exp_to_base_two(source: syntax.Source) -> Iterator[Change]:
    """exp2f for expf."""
    for call in _exps(source):
        yield put(syntax.field(call, "function"), "exp2f")


def exp_in_half(source: syntax.Source) -> Iterator[Change]:
    """exp's result is rounded to the 11 bits of a half."""
    for call in _exps(source):
        yield put(call, f"__uint_as_float((__float_as_uint({syntax.words(call)}) + 0x1000u) & 0xffffe000u)")


def exp_clamped(source: syntax.Source) -> Iterator[Change]:
    """exp of no less than -20."""
    for call in _exps(source):
        argument = syntax.arguments(call)[0]
        yield put(argument, f"fmaxf({syntax.words(argument)}, -20.0f)")


def _exps(source: syntax.Source) -> Iterator[Node]:
    for call in source.nodes("call_expression"):
        if syntax.callee(call) == "expf":
            yield call


def _differences(source: syntax.Source) -> Iterator[tuple[Node, Node, Node]]:
    """Every exp of a difference, with both sides."""
    for call in _exps(source):
        argument = syntax.strip_parentheses(syntax.arguments(call)[0])
        if argument.type == "binary_expression" and syntax.operator(argument) == "-":
            yield call, syntax.field(argument, "left"), syntax.field(argument, "right")
