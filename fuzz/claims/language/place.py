"""A value of a front matter under its key, and the parsers of the values that claims write.

A parser takes a place and returns typed data, or raises a ClaimError that names the key. It knows only this value;
checks across keys come after all are parsed.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Generic, TypeVar

from kfuzz.claims.language import expression
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.devices import ClaimError

T = TypeVar("T")


@dataclass(frozen=True)
class ClaimPlace:
    """One value, the key that it has, and the front matter that both are in."""

    front: FrontMatter
    key: KeyPath
    value: object

    def error(self, reason: str) -> ClaimError:
        return self.front.error(self.key, reason)

    def items(self) -> Iterator[tuple[str, "ClaimPlace"]]:
        """The values of a table, by name."""
        if not isinstance(self.value, dict):
            raise self.error("a table is expected, such as { name = ... }")
        return iter([(name, ClaimPlace(self.front, (*self.key, name), value)) for name, value in self.value.items()])

    def check_keys(self, known: tuple[str, ...]) -> None:
        """Raise a ClaimError for a key that this table does not have, and propose the closest one."""
        for name, place in self.items():
            if name not in known:
                close = get_close_matches(name, known, 1)
                hint = f", did you mean '{close[0]}'?" if close else ""
                raise place.error(f"unknown key{hint}; known here are {', '.join(known)}")


Parser = Callable[[ClaimPlace], T]


@dataclass(frozen=True)
class OneOf(Generic[T]):
    """Parses one of some words."""

    words: tuple[T, ...]

    def __call__(self, place: ClaimPlace) -> T:
        for word in self.words:
            if word == place.value:
                return word
        raise place.error(f"one of {', '.join(map(str, self.words)) or 'nothing'} is expected")


@dataclass(frozen=True)
class String:
    """Parses a string; `wanted` is what the error asks for."""

    wanted: str

    def __call__(self, place: ClaimPlace) -> str:
        if not isinstance(place.value, str):
            raise place.error(self.wanted)
        return place.value


@dataclass(frozen=True)
class Strings:
    """Parses a list of strings; `wanted` is what the error asks for."""

    wanted: str

    def __call__(self, place: ClaimPlace) -> tuple[str, ...]:
        if not isinstance(place.value, list) or not all(isinstance(one, str) for one in place.value):
            raise place.error(self.wanted)
        return tuple(place.value)


@dataclass(frozen=True)
class Each(Generic[T]):
    """Parses a table of values of one kind, by name."""

    parse: Parser[T]

    def __call__(self, place: ClaimPlace) -> dict[str, T]:
        return {name: self.parse(inner) for name, inner in place.items()}


def parse_flag(place: ClaimPlace) -> bool:
    if not isinstance(place.value, bool):
        raise place.error("true or false is expected")
    return place.value


def parse_align(place: ClaimPlace) -> int:
    if not isinstance(place.value, int) or isinstance(place.value, bool):
        raise place.error("an integer is expected: a power of two, in bytes")
    return place.value


def parse_constant(place: ClaimPlace) -> float | str:
    """A number, or an expression over the claim's sizes."""
    return place.value if isinstance(place.value, str) else number_in(place, "a finite number is expected")


def number_in(place: ClaimPlace, wanted: str, least: float = -math.inf, most: float = math.inf) -> float:
    """The number at a place, which must be finite and between two limits."""
    value = place.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.error(wanted)
    try:
        number = float(value)
    except OverflowError:
        raise place.error(wanted) from None
    if not math.isfinite(number) or not least <= number <= most:
        raise place.error(wanted)
    return number


def parse_expression(place: ClaimPlace) -> str:
    """The text of an expression; an integer may be without quotes."""
    if type(place.value) is not int and not isinstance(place.value, str):
        raise place.error(f"an integer or an expression in quotes is expected: {expression.GRAMMAR}")
    return str(place.value)


def parse_sides(place: ClaimPlace) -> str:
    """The text of one to three expressions."""
    if type(place.value) is not int and not isinstance(place.value, str):
        raise place.error('one to three expressions are wanted, in one string: "chunks, rows"')
    return str(place.value)


def parse_cpp_arguments(place: ClaimPlace) -> tuple[str, ...]:
    """A list of arguments, each as C++ writes it."""
    if not isinstance(place.value, list):
        raise place.error("a list of names is expected, in the order of the parameters")
    return tuple(map(cpp_text, place.value))


def parse_python_arguments(place: ClaimPlace) -> tuple[str, ...]:
    """A list of arguments, each as Python writes it."""
    if not isinstance(place.value, list):
        raise place.error('a list is expected, such as ["x", "y", -1, "eps=1e-5"]')
    return tuple(map(python_text, place.value))


def parse_python_argument(place: ClaimPlace) -> str:
    return python_text(place.value)


def cpp_text(value: object) -> str:
    """A value as C++ writes it: TOML's numbers and booleans need no quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return str(value).strip()


def python_text(value: object) -> str:
    """A value as Python writes it; a string is the text itself."""
    return value if isinstance(value, str) else str(value) if isinstance(value, bool) else cpp_text(value)
