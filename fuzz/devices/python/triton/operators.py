"""What Triton's interpreter computes otherwise than its compiler: `and`, `or` and `not` of blocks, a single `other`.

It leaves the operators to Python, for which a block of several elements is true: `mask and inside` was `inside`, and a
kernel that is right on a GPU wrote out of bounds. It asks by its truth whether a value is there: the `other=0` of a
load of one element was not. Scalars in `and` and `or` stay Python's: of `HAS_BIAS and tl.load(bias)` the compiler may
leave the second half out.

For a bound of a loop it makes an integer of an array of one element, which numpy refuses from 2.4 on.
"""

import ast
from collections.abc import Callable

import numpy as np
from triton import language as tl
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter

from kfuzz.devices.python.triton.without_gpu import Untyped

AND, OR, NOT = "kfuzz_and", "kfuzz_or", "kfuzz_not"
"""Names that a rewritten kernel finds among the interpreter's own."""


def install() -> None:
    """Make the interpreter rewrite these three operators; it rewrites assignments already."""
    vars(interpreter).update({AND: all_of, OR: any_of, NOT: negate})
    transformer = interpreter.ASTTransformer
    transformer.visit_BoolOp, transformer.visit_UnaryOp = rewrite_connected, rewrite_negated
    assign = transformer.visit_Assign

    def rewrite_assigned(self: ast.NodeTransformer, node: ast.Assign) -> ast.AST:
        """The interpreter does not visit the value that it assigns."""
        node.value = self.visit(node.value)
        return assign(self, node)  # type: ignore[no-any-return]  # triton is not there where types are checked

    transformer.visit_Assign = rewrite_assigned
    name = "_load_legacy" if hasattr(TritonSemantic, "_load_legacy") else "load"  # until 3.7 `load` had two halves
    load = getattr(TritonSemantic, name)

    def load_with_other(self: Untyped, pointer: Untyped, mask: Untyped, other: Untyped, *rest: Untyped) -> Untyped:
        loaded = load(self, pointer, mask, other, *rest)
        if other is not None and loaded.handle.data.size == 1 and not np.any(mask.handle.data):
            value = self.cast(other, loaded.type.scalar).handle.data
            loaded.handle.data = np.full(loaded.handle.data.shape, value.reshape(()))
        return loaded

    setattr(TritonSemantic, name, load_with_other)
    patch_tensor = interpreter._patch_lang_tensor

    def patch_with_index(tensor: Untyped, scope: Untyped) -> None:
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_with_index


def rewrite_connected(self: ast.NodeTransformer, node: ast.BoolOp) -> ast.Call:
    """`a and b` as a call with a function for each operand, so that the call decides which it computes."""
    self.generic_visit(node)
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    operands: list[ast.expr] = [ast.Lambda(nothing, operand) for operand in node.values]
    return ast.Call(ast.Name(AND if isinstance(node.op, ast.And) else OR, ast.Load()), operands, [])


def rewrite_negated(self: ast.NodeTransformer, node: ast.UnaryOp) -> ast.expr:
    """`not a` as a call; other operators of one operand stay."""
    self.generic_visit(node)
    return ast.Call(ast.Name(NOT, ast.Load()), [node.operand], []) if isinstance(node.op, ast.Not) else node


def is_block(value: Untyped) -> bool:
    """Whether a value has several elements, so that Python cannot decide by it."""
    return isinstance(value, tl.tensor) and value.type.is_block()


def all_of(*operands: Callable[[], Untyped]) -> Untyped:
    """`and`."""
    return connect(operands, False, interpreter.interpreter_semantic.logical_and)


def any_of(*operands: Callable[[], Untyped]) -> Untyped:
    """`or`."""
    return connect(operands, True, interpreter.interpreter_semantic.logical_or)


def connect(operands: tuple[Callable[[], Untyped], ...], decides: bool, join: Callable[..., Untyped]) -> Untyped:
    """Join the blocks among the operands; a scalar decides alone, or is the value if no operand is a block."""
    blocks = []
    value = None
    for operand in operands:
        value = operand()
        if is_block(value):
            blocks.append(value)
        elif bool(value) is decides:
            return value
    if not blocks:
        return value
    while len(blocks) > 1:
        other = blocks.pop()
        blocks.append(join(blocks.pop(), other))
    return blocks[0]


def negate(value: Untyped) -> Untyped:
    """`not`."""
    return interpreter.interpreter_semantic.not_(value) if is_block(value) else not value
