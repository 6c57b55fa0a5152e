"""How the expressions of a claim are read and evaluated; each mistake is a ClaimError that names its key.

Knows front matter and expressions; never what a key means.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from kfuzz.claims.language import expression
from kfuzz.claims.language.expression import Expression, ExpressionError, show_sizes
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath

T = TypeVar("T")
Sizes = Mapping[str, int]
"""Axes, tune parameters and lets by name."""


@dataclass(frozen=True)
class ClaimNames:
    """The names that an expression of a claim may read, and which of them are conditions."""

    every: tuple[str, ...]
    conditions: frozenset[str] = frozenset()
    constants: Mapping[str, str] = field(default_factory=dict)
    """The op's constants as C++ writes them, which a launch may pass by name."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.every)


def required(front: FrontMatter, key: KeyPath, value: T | None, example: str) -> T:
    """The value of a key that must be there."""
    if value is None:
        raise front.error(key, f"missing; write for example {example}")
    return value


def read_number(front: FrontMatter, key: KeyPath, text: str, names: ClaimNames) -> Expression:
    """The expression in a text, read as a number."""
    return checked(front, key, text, names, expression.number)


def checked(
    front: FrontMatter,
    key: KeyPath,
    text: str,
    names: ClaimNames,
    read: Callable[[str, Iterable[str], Collection[str]], Expression],
) -> Expression:
    """The expression in a text, read as a number or as a condition."""
    try:
        return read(text, names, names.conditions)
    except ExpressionError as error:
        raise front.error(key, str(error)) from None


def evaluate(front: FrontMatter, key: KeyPath, value: Expression, sizes: Sizes) -> int:
    """The value at these sizes; a ClaimError that names the key if there is none."""
    try:
        return value(sizes)
    except ExpressionError as error:
        raise front.error(key, str(error)) from None


def at(sizes: Sizes) -> str:
    """`at rows=3 cols=257 threads=32`."""
    return f"at {show_sizes(sizes, sizes)}"
