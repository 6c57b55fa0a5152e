"""Which thread does which part: threads, lanes, warps, strides, offsets, sizes of tiles."""

from collections.abc import Callable, Iterator

from tree_sitter import Node

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import INTEGERS, Source, callee, field, function_of, is_assigned, operator, words

BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim")
OTHER_WORD = {"threadIdx": "blockIdx", "blockIdx": "threadIdx", "blockDim": "gridDim", "gridDim": "blockDim"}


def other_dimension(source: Source) -> Iterator[Change]:
    """y for x and the other way round: threadIdx.y for threadIdx.x."""
    for node in _built_in(source):
        name = field(node, "field")
        if words(name) in ("x", "y"):
            yield put(name, "y" if words(name) == "x" else "x")


def other_level(source: Source) -> Iterator[Change]:
    """The block's for the thread's: blockIdx for threadIdx, gridDim for blockDim, and the other way round."""
    for node in _built_in(source):
        name = field(node, "argument")
        yield put(name, OTHER_WORD[words(name)])


def wrong_index(source: Source) -> Iterator[Change]:
    """Another integer that is known there: lane for warp, row for col, tid for lane."""
    for node in source.nodes("identifier"):
        function = function_of(node)
        known = source.variables(function) if function else {}
        own = known.get(words(node))
        if own is None or own.is_array or own.type not in INTEGERS:
            continue
        if is_assigned(node) or node.start_byte < own.known_from:
            continue
        others = [
            one.name
            for one in known.values()
            if one.type in INTEGERS and not one.is_array and one.name != own.name and one.known_from < node.start_byte
        ]
        for other in others[-2:]:
            yield put(node, other)


def stride_plus_one(source: Source) -> Iterator[Change]:
    """A row that is one element too long."""
    yield from _other_stride(source, "+ 1")


def stride_less_one(source: Source) -> Iterator[Change]:
    """A row that is one element too short."""
    yield from _other_stride(source, "- 1")


def term_dropped(source: Source) -> Iterator[Change]:
    """One of two terms: no block offset, no head, no element."""
    for node in source.nodes("binary_expression"):
        if operator(node) == "+":
            yield put(node, words(field(node, "left")))
            yield put(node, words(field(node, "right")))


def index_plus_one(source: Source) -> Iterator[Change]:
    """The element after the right one."""
    for index in _indices(source):
        yield put(index, f"({words(index)}) + 1")


def index_less_one(source: Source) -> Iterator[Change]:
    """The element before the right one."""
    for index in _indices(source):
        yield put(index, f"({words(index)}) - 1")


def index_zero(source: Source) -> Iterator[Change]:
    """The first element in place of the right one."""
    for index in _indices(source):
        yield put(index, "0")


def number_plus_one(source: Source) -> Iterator[Change]:
    """One more than the number in the text: 33 for 32."""
    yield from _other_number(source, lambda value: value + 1)


def number_less_one(source: Source) -> Iterator[Change]:
    """One less than the number in the text: 31 for 32."""
    yield from _other_number(source, lambda value: value - 1)


def number_halved(source: Source) -> Iterator[Change]:
    """Half the number in the text: 16 for 32."""
    yield from _other_number(source, lambda value: value // 2)


def number_doubled(source: Source) -> Iterator[Change]:
    """Twice the number in the text: 64 for 32."""
    yield from _other_number(source, lambda value: value * 2)


def index_of_sixteen_bits(source: Source) -> Iterator[Change]:
    """An index that wraps at 65536."""
    for node in source.nodes("type_identifier"):
        if words(node) == "size_t" and node.parent is not None and node.parent.type != "template_argument_list":
            yield put(node, "unsigned short")
    for cast in source.nodes("call_expression"):
        if callee(cast) == "static_cast" and "size_t" in words(field(cast, "function")):
            yield put(field(cast, "function"), "static_cast<unsigned short>")


def _built_in(source: Source) -> Iterator[Node]:
    for node in source.nodes("field_expression"):
        if words(field(node, "argument")) in BUILT_IN:
            yield node


def _other_stride(source: Source, step: str) -> Iterator[Change]:
    for node in source.nodes("binary_expression"):
        function = function_of(node)
        if operator(node) == "*" and function is not None:
            known = source.variables(function)
            right = field(node, "right")
            own = known.get(words(right))
            if own is not None and own.type in INTEGERS:
                yield put(right, f"({words(right)} {step})")


def _indices(source: Source) -> Iterator[Node]:
    for node in source.nodes("subscript_argument_list"):
        yield from (child for child in node.named_children if child.type != "comment")


def _other_number(source: Source, other: Callable[[int], int]) -> Iterator[Change]:
    for node in source.nodes("number_literal"):
        text = words(node)
        if text.isdecimal() and function_of(node) is not None:
            value = other(int(text))
            if value >= 0 and value != int(text):
                yield put(node, str(value))
