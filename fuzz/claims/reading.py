"""How a claim's keys are read: tables, words, numbers and expressions, each mistake a ClaimError that names its key.

Knows front matter and expressions; never what a key means.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from kfuzz.claims import expression
from kfuzz.claims.expression import Expression, ExpressionError, show_sizes
from kfuzz.claims.front_matter import FrontMatter, KeyPath, lookup
from kfuzz.claims.keys import TABLES

Sizes = Mapping[str, int]
"""Axes, tune parameters and lets by name."""


@dataclass(frozen=True)
class ClaimNames:
    """The names that an expression of a claim may read, and which of them are conditions."""

    every: tuple[str, ...]
    conditions: frozenset[str] = frozenset()
    constants: Mapping[str, str] = field(default_factory=dict)
    """The op's constants as C++ writes them, which a launch may hand over by name."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.every)


def check_keys(front: FrontMatter, key: KeyPath, allowed: Iterable[str]) -> None:
    """Every key of the table at `key` is known; the closest one is proposed otherwise."""
    known = tuple(allowed)
    for name in table(front, key):
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f", did you mean '{close[0]}'?" if close else ""
            raise front.error((*key, name), f"unknown key{hint}; known here are {', '.join(known)}")


def table(front: FrontMatter, key: KeyPath) -> dict[str, object]:
    """The table at `key`; empty where it is left out."""
    found = lookup(front.values, key) if key else front.values
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise front.error(key, "a table is wanted, such as { name = ... }")
    return found


def required(front: FrontMatter, key: KeyPath, example: str) -> object:
    """The value at `key`, which must be there."""
    value = lookup(front.values, key)
    if value is None:
        raise front.error(key, f"missing; write for example {example}")
    return value


def read_word(front: FrontMatter, key: KeyPath) -> str | None:
    """One of the words of this key; None where it is left out."""
    table_of_key, name = str(key[0]), str(key[-1])
    return read_choice(front, key, TABLES[table_of_key][name].words)


def read_choice(front: FrontMatter, key: KeyPath, words: Iterable[str]) -> str | None:
    """One of some words; None where the key is left out."""
    value, allowed = lookup(front.values, key), tuple(words)
    if value is not None and value not in allowed:
        raise front.error(key, f"one of {', '.join(allowed) or 'nothing'} is wanted")
    return None if value is None else str(value)


def read_number(front: FrontMatter, key: KeyPath, names: ClaimNames) -> Expression:
    """An integer or an expression in quotes."""
    return checked(front, key, expression_text(front, key), names, expression.number)


def expression_text(front: FrontMatter, key: KeyPath) -> str:
    """The text of an expression, for which an integer may stand without quotes."""
    value = lookup(front.values, key)
    if type(value) is not int and not isinstance(value, str):
        raise front.error(key, f"an integer or an expression in quotes is wanted: {expression.GRAMMAR}")
    return str(value)


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
    """The value at these sizes; a ClaimError that names the key where there is none."""
    try:
        return value(sizes)
    except ExpressionError as error:
        raise front.error(key, str(error)) from None


def at(sizes: Sizes) -> str:
    """`at rows=3 cols=257 threads=32`."""
    return f"at {show_sizes(sizes, sizes)}"
