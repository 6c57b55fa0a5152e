"""CUDA C++ as a syntax tree: the nodes of a kernel file's text, and the declarations of its names.

Knows tree-sitter and its grammar for CUDA; never what a kernel computes, nor which of its places matter.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

OUTSIDE = ("comment", "static_assert_declaration", "template_parameter_list", "template_argument_list", "ERROR")
"""Nodes below these are not code that runs, or not known to be."""
CLUSTER_DIMENSIONS = re.compile(rb"__cluster_dims__\s*\([^()]*\)")
"""The grammar does not know it."""
INTEGERS = ("int", "size_t", "unsigned int", "unsigned", "long", "long long")


@dataclass(frozen=True)
class Variable:
    """A variable of a function: its type, whether it is an array or a pointer, and the byte from which it is known."""

    name: str
    type: str
    is_array: bool
    is_shared: bool
    known_from: int


@dataclass(frozen=True)
class Source:
    """The text of a kernel file, parsed."""

    text: bytes
    root: Node

    @property
    def errors(self) -> tuple[int, ...]:
        """The lines that the grammar cannot parse."""
        return tuple(sorted({node.start_point.row + 1 for node in walk(self.root) if node.is_error or node.is_missing}))

    def nodes(self, *types: str) -> Iterator[Node]:
        """Every node of these types in code that runs, from top to bottom."""
        return (node for node in self._running if node.type in types)

    def variables(self, function: Node) -> Mapping[str, Variable]:
        """The variables of a function, parameters first. If a name is declared twice, the first declaration counts."""
        if function.id not in self._variables:
            variables: dict[str, Variable] = {}
            for node in walk(function, OUTSIDE):
                if node.type in ("parameter_declaration", "declaration"):
                    for variable in _variables_of(node):
                        variables.setdefault(variable.name, variable)
            self._variables[function.id] = variables
        return self._variables[function.id]

    @cached_property
    def _running(self) -> tuple[Node, ...]:
        """Every node of code that runs."""
        return tuple(walk(self.root, OUTSIDE))

    @cached_property
    def _variables(self) -> dict[int, Mapping[str, Variable]]:
        """The variables of the functions that were asked for: each is asked for hundreds of times."""
        return {}


def parse(text: str) -> Source:
    """The tree of a kernel file's text."""
    raw = text.encode()
    known = CLUSTER_DIMENSIONS.sub(lambda match: b" " * len(match[0]), raw)
    return Source(raw, Parser(_language()).parse(known).root_node)


@cache
def _language() -> Language:
    return Language(tree_sitter_cuda.language())


def walk(node: Node, outside: tuple[str, ...] = ()) -> Iterator[Node]:
    """A node and all below it, from top to bottom, except nodes of the types in `outside` and all below those."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type not in outside:
            yield one
            waiting += reversed(one.children)


def words(node: Node) -> str:
    """The text of a node."""
    return node.text.decode() if node.text else ""


def field(node: Node, name: str) -> Node:
    """The child of that name, which must always exist by the grammar."""
    child = node.child_by_field_name(name)
    assert child is not None, f"{node.type} without {name}"
    return child


def operator(node: Node) -> str:
    """The operator of a binary, unary, assignment or update expression."""
    return words(field(node, "operator"))


def function_of(node: Node) -> Node | None:
    """The function around a node."""
    return enclosing(node, "function_definition")


def enclosing(node: Node, *types: str) -> Node | None:
    """The innermost node of these types around a node."""
    outer = node.parent
    while outer is not None and outer.type not in types:
        outer = outer.parent
    return outer


def is_within(node: Node, outer: Node | None) -> bool:
    """Whether a node lies in another, or is the same node."""
    return outer is not None and outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def callee(call: Node) -> str:
    """The plain name of the called function: `f` in `f<3>(x)`."""
    function = field(call, "function")
    name = function.child_by_field_name("name") if function.type == "template_function" else function
    return words(name) if name is not None else ""


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    return [node for node in field(call, "arguments").named_children if node.type != "comment"]


def strip_parentheses(node: Node) -> Node:
    """A node without the parentheses around it."""
    while node.type in ("parenthesized_expression", "condition_clause"):
        node = next(child for child in node.named_children if child.type != "comment")
    return node


def is_assigned(node: Node) -> bool:
    """Whether a name is declared here, or assigned to as a whole or by an index."""
    outer = node
    while outer.parent is not None and outer.parent.type in ("subscript_expression", "field_expression"):
        if outer.parent.child_by_field_name("argument") != outer:
            return False
        outer = outer.parent
    parent = outer.parent
    if parent is None:
        return False
    target = parent.child_by_field_name("left" if parent.type == "assignment_expression" else "declarator")
    return target == outer or parent.type == "update_expression"


def _variables_of(declaration: Node) -> Iterator[Variable]:
    kind = declaration.child_by_field_name("type")
    if kind is None:
        return
    is_shared = any(child.type == "type_qualifier" and words(child) == "__shared__" for child in declaration.children)
    for declarator in declaration.children_by_field_name("declarator"):
        inner, is_array = declarator, False
        while inner.type != "identifier":
            is_array = is_array or inner.type in ("array_declarator", "pointer_declarator")
            below = inner.child_by_field_name("declarator") or next(iter(inner.named_children), None)
            if below is None or inner.type == "function_declarator":
                return
            inner = below
        yield Variable(words(inner), words(kind), is_array, is_shared, declarator.end_byte)
