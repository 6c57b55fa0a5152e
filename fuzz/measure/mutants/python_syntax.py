"""A Python file for the operators: the syntax tree of what the callable reaches, and the bytes of each node.

Knows Python's syntax tree; never what a change means.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from kfuzz.measure.mutants.change import Change

TreeNode = TypeVar("TreeNode", bound=ast.AST)


@dataclass(frozen=True)
class PythonSource:
    """A file's bytes, the byte at which each line starts, and the statements that the callable reaches."""

    text: bytes
    starts: tuple[int, ...]
    reached: tuple[ast.stmt, ...]

    def place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The first byte of a node, and the byte after its last."""
        assert node.end_lineno is not None, "a parsed tree has places"
        assert node.end_col_offset is not None, "a parsed tree has places"
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def words(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        first, last = self.place(node)
        return self.text[first:last].decode()

    def put(self, node: ast.expr | ast.stmt, text: str) -> Change:
        """Text in place of a node."""
        return ((*self.place(node), text),)

    def every(self, kind: type[TreeNode]) -> Iterator[TreeNode]:
        """Every node of a kind, except those in decorators and annotations, which compute nothing."""
        for statement in self.reached:
            yield from (node for node in _inside(statement) if isinstance(node, kind))


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it."""
    yield node
    left_out = {"decorator_list", "annotation", "returns", "type_comment"}
    for name, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST) and name not in left_out:
                yield from _inside(one)


def parse_python(source: str, entry: str) -> PythonSource:
    """The file with the definitions of its top level that the entry reaches by name, directly or indirectly."""
    tree = ast.parse(source)
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    known = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    reached: dict[str, ast.stmt] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name in known and name not in reached:
            reached[name] = known[name]
            waiting += [node.id for node in ast.walk(known[name]) if isinstance(node, ast.Name)]
    return PythonSource(source.encode(), tuple(starts), tuple(reached.values()))
