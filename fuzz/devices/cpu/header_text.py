"""Reads the declarations of a C++ header of plain structs, enumerations and constants such as runtime/abi.h.

Knows the grammar for CUDA and the few forms that such a header uses.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from kfuzz.devices.cpu.header import Enumeration, Header, Member


def read_header(path: Path) -> Header:
    """Read a header. ValueError names a line that has none of the known forms."""
    root = Parser(Language(tree_sitter_cuda.language())).parse(path.read_bytes()).root_node
    nodes = list(_walk(root))
    if wrong := next((node for node in nodes if node.is_error or node.is_missing), None):
        raise ValueError(f"{path}:{wrong.start_point.row + 1}: not a plain declaration")
    constants = {name: int(value) for node in nodes if node.type == "declaration" for name, value in _constants(node)}
    enumerations = {_name(one): Enumeration(_name(one), _numbers(one)) for one in nodes if one.type == "enum_specifier"}
    declared = (one for one in nodes if one.type == "struct_specifier" and one.child_by_field_name("body"))
    structs = {_name(one): tuple(_members(one, constants)) for one in declared}
    return Header(structs, enumerations, constants)


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _text(node: Node | None) -> str:
    return node.text.decode() if node and node.text else ""


def _name(node: Node) -> str:
    return _text(node.child_by_field_name("name"))


def _constants(node: Node) -> Iterator[tuple[str, str]]:
    for one in node.children_by_field_name("declarator"):
        if one.type == "init_declarator":
            yield _text(one.child_by_field_name("declarator")), _text(one.child_by_field_name("value"))


def _numbers(node: Node) -> dict[str, int]:
    """The words of an enumeration with their numbers; a word without a number has the next one."""
    numbers: dict[str, int] = {}
    for one in _walk(node):
        if one.type == "enumerator":
            value = one.child_by_field_name("value")
            numbers[_name(one)] = int(_text(value), 0) if value else max(numbers.values(), default=-1) + 1
    return numbers


def _members(node: Node, constants: Mapping[str, int]) -> Iterator[Member]:
    for declaration in (one for one in _walk(node) if one.type == "field_declaration"):
        is_const = any(one.type == "type_qualifier" and _text(one) == "const" for one in declaration.children)
        of_type = _text(declaration.child_by_field_name("type"))
        for declarator in declaration.children_by_field_name("declarator"):
            parts = list(_walk(declarator))
            types = {part.type for part in parts}
            name = next(_text(part) for part in parts if part.type == "field_identifier")
            sizes = [_text(part.child_by_field_name("size")) for part in parts if part.type == "array_declarator"]
            count = next((constants[size] if size in constants else int(size) for size in sizes), 0)
            yield Member(name, of_type, is_const, "pointer_declarator" in types, "function_declarator" in types, count)
