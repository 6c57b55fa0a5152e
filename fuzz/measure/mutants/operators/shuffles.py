"""How lanes of a warp exchange values: masks, widths, offsets, source lanes."""

from collections.abc import Iterator

from tree_sitter import Node

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import Source, arguments, callee, field, words

PREFIX = "__shfl"
TURNED = {
    "__shfl_xor_sync": ("__shfl_down_sync", "__shfl_up_sync"),
    "__shfl_down_sync": ("__shfl_xor_sync", "__shfl_up_sync"),
}


def shuffle_mask_of_half(source: Source) -> Iterator[Change]:
    """A mask that names 16 of the 32 lanes."""
    for call in _shuffles(source):
        yield put(arguments(call)[0], "0x0000ffffu")


def shuffle_width_halved(source: Source) -> Iterator[Change]:
    """A shuffle among 16 lanes."""
    for call in _shuffles(source):
        if len(arguments(call)) == 3:
            yield put(arguments(call)[2], f"{words(arguments(call)[2])}, 16")


def shuffle_offset_halved(source: Source) -> Iterator[Change]:
    """Half the offset."""
    yield from _other_offset(source, "({}) / 2")


def shuffle_offset_doubled(source: Source) -> Iterator[Change]:
    """Twice the offset."""
    yield from _other_offset(source, "({}) * 2")


def shuffle_offset_plus_one(source: Source) -> Iterator[Change]:
    """The lane beside the right one."""
    for call in _shuffles(source):
        if callee(call) != "__shfl_xor_sync":  # a butterfly of 17, 9, 5, 3 and 2 meets every lane once, too
            yield put(arguments(call)[2], f"({words(arguments(call)[2])}) + 1")


def shuffle_from_last_lane(source: Source) -> Iterator[Change]:
    """The last lane's value in place of the right one."""
    for call in _shuffles(source):
        if callee(call) == "__shfl_sync":
            yield put(arguments(call)[2], "31")


def shuffle_turned(source: Source) -> Iterator[Change]:
    """Down or up for the butterfly, and the other way round."""
    for call in _shuffles(source):
        for other in TURNED.get(callee(call), ()):
            yield put(field(call, "function"), other)


def shuffle_dropped(source: Source) -> Iterator[Change]:
    """A lane takes its own value again."""
    for call in _shuffles(source):
        yield put(call, words(arguments(call)[1]))


def _shuffles(source: Source) -> Iterator[Node]:
    for call in source.nodes("call_expression"):
        if callee(call).startswith(PREFIX) and len(arguments(call)) >= 3:
            yield call


def _other_offset(source: Source, form: str) -> Iterator[Change]:
    for call in _shuffles(source):
        offset = arguments(call)[2]
        if words(offset) != "0":
            yield put(offset, form.format(words(offset)))
