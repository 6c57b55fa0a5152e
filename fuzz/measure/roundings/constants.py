"""The constants of an op, such as eps, in a file without a claim: an argument has the op's, or the text has a number.

A kernel that is right with an eps of its own is wrong with another one. Knows text and ops.
"""

import re
from collections.abc import Iterable, Mapping

from kfuzz.claims.language.formula_claims import EPS, NAMES, constant_named, literals_of
from kfuzz.oracle.judging.find_op import find

SMALL = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?[eE]-\d+|0?\.0{3,}\d+)f?\b")
"""Small numbers of the text: one of them may be the least denominator of an op."""
ADDED = re.compile(rf"(?:\+\s*|(?i:\b{NAMES[EPS].pattern}\b)[\s=({{]*){SMALL.pattern}|{SMALL.pattern}\s*\+")
"""Such a number where it may be eps: it is added, or has a name such as EPS. A tolerance of a test is neither."""
Given = Mapping[str, tuple[str, ...]]
"""Values of arguments by name, as the user says them."""
NONE_SAID: Given = {}


def constant_of(op: str, name: str) -> str:
    """The op's constant that an argument of this name means; empty if it means none."""
    return constant_named(name, literals_of(find(op), {}))


def said_constants(op: str, given: Given) -> dict[str, str]:
    """The op's constants among the arguments for which the user says a number."""
    named = {constant_of(op, name): values[0] for name, values in given.items() if len(values) == 1}
    return {name: value for name, value in named.items() if name and is_number(value)}


def guessed_constants(op: str, small: Iterable[str], arguments: Iterable[str], given: Given) -> list[dict[str, str]]:
    """The constants that are not the op's own, the user's among them; several if it is unclear which number is eps.

    `small`: the small numbers of the text that may be eps. `arguments`: the names of those that are not arrays.
    """
    said, own = said_constants(op, given), find(op).scalars.get(EPS)
    if EPS in said or not isinstance(own, float | int) or any(constant_of(op, one) == EPS for one in arguments):
        return [said]
    numbers = {float(one): one for one in small}
    if not numbers or own in numbers:
        return [said]
    return [{**said, EPS: one} for one in numbers.values()]


def added_numbers(code: str) -> list[str]:
    """The small numbers of C++ that may be eps."""
    return [one or other for one, other in ADDED.findall(code)]


def is_number(text: str) -> bool:
    """Whether Python reads it as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
