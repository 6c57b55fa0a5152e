"""Wrong values: operands, components, arguments, results."""

from collections.abc import Iterator
from itertools import pairwise

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import (
    Source,
    arguments,
    callee,
    field,
    function_of,
    is_assigned,
    operator,
    walk,
    words,
)

OTHER_SIGN = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/"}
OTHER_COMPONENT = {"x": "y", "y": "x", "z": "w", "w": "z"}
OTHER_MEMBER = {"max": "sum", "sum": "max", "m": "d", "d": "m", "head": "tail", "tail": "head"}


def other_sign(source: Source) -> Iterator[Change]:
    """- for +, / for * and the other way round; / for %."""
    for node in source.nodes("binary_expression"):
        if operator(node) in OTHER_SIGN:
            yield put(field(node, "operator"), OTHER_SIGN[operator(node)])


def division_turned(source: Source) -> Iterator[Change]:
    """b / a for a / b."""
    for node in source.nodes("binary_expression"):
        if operator(node) in "/-" and operator(node):
            yield put(node, f"{words(field(node, 'right'))} {operator(node)} {words(field(node, 'left'))}")


def division_dropped(source: Source) -> Iterator[Change]:
    """a for a / b: the result is not normalised."""
    for node in source.nodes("binary_expression"):
        if operator(node) in "/%":
            yield put(node, words(field(node, "left")))


def wrong_component(source: Source) -> Iterator[Change]:
    """The neighbouring component of a vector: v.y for v.x."""
    for node in source.nodes("field_expression"):
        name, of = words(field(node, "field")), words(field(node, "argument"))
        if name in OTHER_COMPONENT and of not in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            yield put(field(node, "field"), OTHER_COMPONENT[name])


def wrong_member(source: Source) -> Iterator[Change]:
    """The other half of a state: its sum for its maximum."""
    for node in source.nodes("field_expression"):
        name = words(field(node, "field"))
        if name in OTHER_MEMBER:
            yield put(field(node, "field"), OTHER_MEMBER[name])


def stale_value(source: Source) -> Iterator[Change]:
    """The value from which a value was made, in its place: a thread's sum for the row's."""
    for function in source.nodes("function_definition"):
        known = source.variables(function)
        for made in walk(function):
            if made.type != "init_declarator":
                continue
            name = words(field(made, "declarator"))
            own = known.get(name)
            if own is None or own.type != "float" or own.is_array:
                continue
            sources = {words(one) for one in walk(field(made, "value")) if one.type == "identifier"}
            for other in (known[one] for one in sorted(sources) if one in known):
                if other.type == "float" and not other.is_array and other.name != name:
                    uses = [n for n in walk(function) if n.type == "identifier" and words(n) == name]
                    for use in uses:
                        if use.start_byte >= made.end_byte:
                            yield put(use, other.name)


def wrong_float(source: Source) -> Iterator[Change]:
    """Another float that is known there: max for sum."""
    for node in source.nodes("identifier"):
        function = function_of(node)
        known = source.variables(function) if function else {}
        own = known.get(words(node))
        if own is None or own.is_array or own.type != "float" or is_assigned(node):
            continue
        if node.start_byte < own.known_from:
            continue
        others = [
            one.name
            for one in known.values()
            if one.type == "float" and not one.is_array and one.name != own.name and one.known_from < node.start_byte
        ]
        if others:
            yield put(node, others[-1])


def swapped_arguments(source: Source) -> Iterator[Change]:
    """Two neighbouring arguments change places in a call of a function of the file."""
    own = {words(node) for one in source.nodes("function_declarator") for node in [field(one, "declarator")]}
    for call in source.nodes("call_expression"):
        if callee(call) in own or callee(call).startswith("make_"):
            given = arguments(call)
            for first, second in pairwise(given):
                yield (*put(first, words(second)), *put(second, words(first)))


def result_forgotten(source: Source) -> Iterator[Change]:
    """A function gives back its argument instead of what it made of it."""
    for node in source.nodes("return_statement"):
        function = function_of(node)
        if function is None or not node.named_children:
            continue
        value = node.named_children[0]
        given = field(field(function, "type"), "name") if function.child_by_field_name("name") else None
        kind = words(field(function, "type"))
        for variable in source.variables(function).values():
            same = variable.type == kind and not variable.is_array and given is None
            if same and variable.known_from < node.start_byte and variable.name != words(value):
                yield put(value, variable.name)
