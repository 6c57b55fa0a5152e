"""exp, the number that is subtracted in its argument, and the sums that it rescales."""

from collections.abc import Iterator

from tree_sitter import Node

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import (
    Source,
    arguments,
    callee,
    field,
    function_of,
    operator,
    strip_parentheses,
    words,
)


def rescale_dropped(source: Source) -> Iterator[Change]:
    """A sum is not rescaled to the new maximum: the factor exp(...) is left out."""
    for call in _exps(source):
        parent = call.parent
        if parent is not None and parent.type == "binary_expression" and operator(parent) == "*":
            other = field(parent, "left") if field(parent, "right") == call else field(parent, "right")
            yield put(parent, words(other))
        elif parent is not None and parent.type == "assignment_expression" and operator(parent) == "*=":
            yield put(call, "1.0f")


def exponent_inverted(source: Source) -> Iterator[Change]:
    """exp(b - a) for exp(a - b)."""
    for call, left, right in _differences(source):
        yield put(arguments(call)[0], f"{words(right)} - {words(left)}")


def shift_dropped(source: Source) -> Iterator[Change]:
    """exp(a) for exp(a - b): no maximum is subtracted."""
    for call, left, _ in _differences(source):
        yield put(arguments(call)[0], words(left))


def wrong_shift(source: Source) -> Iterator[Change]:
    """exp(a - c) for exp(a - b), where c is each other float that is known there: the wrong maximum."""
    for call, left, right in _differences(source):
        function = function_of(call)
        for other in source.variables(function).values() if function else ():
            is_other = other.name not in (words(left), words(right))
            if other.type == "float" and not other.is_array and is_other and other.known_from < call.start_byte:
                yield put(right, other.name)


def exp_fast(source: Source) -> Iterator[Change]:
    """__expf for expf, where the claim says expf."""
    for call in _exps(source):
        yield put(field(call, "function"), "__expf")


def exp_to_base_two(source: Source) -> Iterator[Change]:
    """exp2f for expf."""
    for call in _exps(source):
        yield put(field(call, "function"), "exp2f")


def exp_in_half(source: Source) -> Iterator[Change]:
    """exp's result is rounded to the 11 bits of a half."""
    for call in _exps(source):
        yield put(call, f"__uint_as_float((__float_as_uint({words(call)}) + 0x1000u) & 0xffffe000u)")


def exp_clamped(source: Source) -> Iterator[Change]:
    """exp of no less than -20."""
    for call in _exps(source):
        argument = arguments(call)[0]
        yield put(argument, f"fmaxf({words(argument)}, -20.0f)")


def _exps(source: Source) -> Iterator[Node]:
    for call in source.nodes("call_expression"):
        if callee(call) == "expf":
            yield call


def _differences(source: Source) -> Iterator[tuple[Node, Node, Node]]:
    """Every exp of a difference, with both sides."""
    for call in _exps(source):
        argument = strip_parentheses(arguments(call)[0])
        if argument.type == "binary_expression" and operator(argument) == "-":
            yield call, field(argument, "left"), field(argument, "right")
