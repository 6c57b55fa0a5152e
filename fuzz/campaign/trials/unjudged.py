"""Why answers were not judged: the reasons of the oracle, of devices and of kernels, and the wording of each.

A reason that is a text is a device's note, which no code reads.
"""

import re
from dataclasses import replace

from kfuzz.devices import Refusal, Untried
from kfuzz.oracle.numbers.verdict import Reason

Unjudged = Reason | Refusal | Untried | str

OWN_ANSWER = "answers where the reference itself is outside the formula that was made of it"
ONLY_ACCESSES = "arrays too large to be filled: kfuzz runs a few blocks, and no block writes a whole row alone"
NUMBER = re.compile(r"(?<![\w^])\d+ ")


def without_numbers(one: Unjudged) -> Unjudged:
    """The reason without the numbers of one case, so that all cases count as one; the line of a refusal stays.

    A refusal is a sentence of somebody else, which needs a word there: "Dimension out of range: N of a tensor".
    """
    match one:
        case Reason():
            return replace(one, count=0)
        case Refusal():
            return replace(one, words=NUMBER.sub("N ", one.words))
        case str():
            return NUMBER.sub("", one)
    return one


def unjudged_text(one: Unjudged) -> str:
    """The reason in words."""
    match one:
        case Refusal():
            return f"refused: {refusal_text(one)}"
        case Untried():
            return f"a size near a power of two was not tried: {one.value}"
    return str(one)


def refusal_text(one: Refusal) -> str:
    """What a function said when it refused its arguments, and its line if it is known."""
    return f"line {one.line}: {one.words}" if one.line is not None else one.words
