"""The strings and numbers of a Python file that its kernels may be compiled with.

Knows Python's syntax tree; the file is not run for it.
"""

import ast
from collections.abc import Collection, Iterator, Sequence


def constants_in(tree: ast.Module, helpers: Collection[str]) -> tuple[list[str], set[int]]:
    """The strings and the whole numbers of a Python file, without those that only a benchmark's inputs are made of."""
    left = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in helpers)]
    while unread := [node for node in left if isinstance(node, ast.Assign) and not is_read(node, left)]:
        left = [node for node in left if node not in unread]
    inside = [one for node in left for one in ast.walk(node)]
    docs = {id(one.value) for one in inside if isinstance(one, ast.Expr)}
    found = [one.value for one in inside if isinstance(one, ast.Constant) and id(one) not in docs]
    return [one for one in found if isinstance(one, str)], {one for one in found if type(one) is int}


def is_read(made: ast.Assign, nodes: Sequence[ast.stmt]) -> bool:
    """Whether one of these statements reads a name that an assignment makes."""
    names = {one.id for target in made.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return any(name in names for node in nodes if node is not made for name in reads_in(node, frozenset()))


def reads_in(node: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """The names of the file that a part of it reads: a function's parameters are its own."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        own |= {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
        yield node.id
    for part in ast.iter_child_nodes(node):
        yield from reads_in(part, own)
