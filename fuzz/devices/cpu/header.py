"""The declarations of a C++ header of plain structs, enumerations and constants such as runtime/abi.h.

Lays structs out in ctypes, and stores declarations as JSON; header_text.py reads them from C++.
"""

import json
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from dataclasses import astuple, dataclass
from typing import Any

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
    """The declarations of a header."""

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


def to_json(header: Header) -> bytes:
    """The declarations as JSON."""
    structs = {name: [astuple(one) for one in members] for name, members in header.structs.items()}
    enumerations = {name: one.numbers for name, one in header.enumerations.items()}
    return json.dumps([structs, enumerations, header.constants]).encode()


def from_json(raw: bytes) -> Header:
    """The declarations from the JSON of `to_json`."""
    structs, enumerations, constants = json.loads(raw)
    return Header(
        {name: tuple(Member(*one) for one in members) for name, members in structs.items()},
        {name: Enumeration(name, numbers) for name, numbers in enumerations.items()},
        constants,
    )
