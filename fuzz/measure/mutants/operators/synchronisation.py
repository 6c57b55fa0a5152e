"""How threads work together: barriers, shared arrays, atomics."""

from collections.abc import Iterator
from itertools import pairwise

from kfuzz.measure.mutants.change import Change, put, put_all
from kfuzz.measure.mutants.syntax import Source, arguments, callee, function_of, walk, words

BARRIERS = ("__syncthreads", "__syncwarp")
OF_GROUPS = ("sync", "barrier_arrive", "barrier_wait")
"""Methods of cooperative groups."""


def drop_barrier(source: Source) -> Iterator[Change]:
    """Leaves out a barrier of a block, a warp, or a cooperative group."""
    for statement in source.nodes("expression_statement"):
        call = statement.named_children[0] if statement.named_children else None
        if call is None or call.type != "call_expression":
            continue
        group, _, method = callee(call).rpartition(".")
        if callee(call) in BARRIERS or (group and method in OF_GROUPS):
            yield put(statement, ";")


def barrier_into_branch(source: Source) -> Iterator[Change]:
    """Moves a barrier into the branch before it, which only some threads reach."""
    for branch in source.nodes("if_statement"):
        barrier = branch.next_named_sibling
        body = branch.child_by_field_name("consequence")
        if barrier is None or body is None or body.type != "compound_statement":
            continue
        if barrier.type == "expression_statement" and words(barrier).startswith(BARRIERS):
            yield ((body.end_byte - 1, body.end_byte - 1, words(barrier)), *put(barrier, ";"))


def reuse_shared_array(source: Source) -> Iterator[Change]:
    """Uses one __shared__ array of a function in place of another of the same type."""
    for function in source.nodes("function_definition"):
        shared = [one for one in source.variables(function).values() if one.is_shared and one.is_array]
        for first, second in pairwise(shared):
            if first.type == second.type:
                uses = [n for n in walk(function) if n.type == "identifier" and words(n) == second.name]
                yield put_all(uses[1:], first.name)


def wrong_array(source: Source) -> Iterator[Change]:
    """Reads or writes another array of the same type."""
    for node in source.nodes("identifier"):
        function = function_of(node)
        known = source.variables(function) if function else {}
        own = known.get(words(node))
        if own is None or not own.is_array or node.start_byte < own.known_from:
            continue
        likes = (one for one in known.values() if one.is_array and one.type == own.type and one.name != own.name)
        for other in [one for one in likes if one.known_from < node.start_byte][:1]:
            yield put(node, other.name)


def drop_atomic(source: Source) -> Iterator[Change]:
    """Adds without atomicAdd: a read, an addition and a write, whose result is the old value."""
    for call in source.nodes("call_expression"):
        if callee(call) == "atomicAdd" and len(arguments(call)) == 2:
            place, value = map(words, arguments(call))
            yield put(call, f"((*({place}) += {value}) - ({value}))")


def drop_fences(source: Source) -> Iterator[Change]:
    """Leaves out every __threadfence() of a function: other blocks may see its writes late."""
    for function in source.nodes("function_definition"):
        calls = [node for node in walk(function) if node.type == "call_expression" and callee(node) == "__threadfence"]
        if calls:
            yield put_all(calls, "(void)0")
