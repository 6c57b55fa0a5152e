"""A diagnosis: what every function in this folder returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Floats, Index, Mask


@dataclass(frozen=True)
class Diagnosis:
    """A description of the error: a stable label, and a sentence with this case's numbers."""

    label: str
    detail: str = ""
    family: str = ""
    """The label with k for its number, if it has one: one bug shows different numbers in different cases."""


class Diagnose(Protocol):
    """A function in an op's file that recognises the op's typical errors."""

    def __call__(
        self,
        inputs: Mapping[str, Floats],
        output: str,
        got: Doubles,
        enclosure: Enclosure,
        wrong: Mask,
        worst: Index,
        /,
    ) -> Diagnosis: ...
