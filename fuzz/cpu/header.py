"""Reads a C++ header of plain structs, enumerations and constants, as runtime/abi.h is, and lays structs out in ctypes.

Knows the grammar for CUDA and the few forms that such a header uses.
"""

from collections.abc import Iterator, Mapping
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

SCALARS: Mapping[str, type[Any]] = {"uint32_t": c_uint32, "int32_t": c_int32, "uint64_t": c_uint64, "int64_t": c_int64}


@dataclass(frozen=True)
class Member:
    """A member of a struct. `count` is the length of an array, or 0."""

    name: str
    type: str
    is_const: bool
    is_pointer: bool
    is_function: bool
    count: int


class Enumeration:
    """The words of an enumeration with their numbers: `Status.finished`."""

    def __init__(self, name: str, numbers: Mapping[str, int]) -> None:
        self._name, self.numbers = name, numbers

    def __getattr__(self, word: str) -> int:
        if word.startswith("_") or word not in self.numbers:
            raise AttributeError(f"{word} is not a word of {self._name}")
        return self.numbers[word]

    def word(self, number: int) -> str:
        """The word of a number."""
        return next(word for word, one in self.numbers.items() if one == number)


@dataclass(frozen=True)
class Header:
    """What a header declares."""

    structs: Mapping[str, tuple[Member, ...]]
    enumerations: Mapping[str, Enumeration]
    constants: Mapping[str, int]

    def fields(self, struct: str, mirrors: Mapping[str, type[Structure]]) -> list[tuple[str, type[Any]]]:
        """The members of a struct for ctypes. Pointers lead to the structs in `mirrors`; others are only addresses."""
        return [(one.name, self._in_ctypes(one, mirrors)) for one in self.structs[struct]]

    def _in_ctypes(self, member: Member, mirrors: Mapping[str, type[Structure]]) -> type[Any]:
        known = {**SCALARS, **mirrors}
        if member.is_pointer and member.is_const and member.type == "char":
            return c_char_p
        if member.is_pointer or member.is_function:
            is_known = member.type in known and not member.is_function
            return POINTER(known[member.type]) if is_known else c_void_p
        scalar = c_uint32 if member.type in self.enumerations else SCALARS[member.type]
        return scalar * member.count if member.count else scalar


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
