"""The interface of bands to their rules. A rule knows only this file, not the bands themselves."""

from collections.abc import Mapping
from typing import Any, Protocol

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import Element, Reals
from kfuzz.oracle.numbers.verdict import Reason, Special
from kfuzz.oracle.systems.ends import Endpoints
from kfuzz.oracle.systems.value import Quantity, System


class BandSystem(System, Protocol):
    """The words of a formula over sets, with the claim and the steps of which rules are made.

    `formats`: the element type of each output; `answers`: what the kernel wrote there.
    `f`: the format in which a kernel computes; `u` and `tiny`: its rounding and underflow. `E`: the arithmetic of the
    sets' ends. `least`: the least normal number of the narrowest format that a factor of a matrix product may be in.
    `masked`: for each shift, where all its elements are -inf. `is_silent`: what such a row gives is not said, so that
    anything will do. `spreads`: what each variance so far is of.
    """

    claim: Accuracy
    formats: Mapping[str, Element]
    answers: Mapping[str, Reals]
    f: Element
    E: Endpoints
    u: float
    tiny: float
    least: float
    ftz: bool
    special: Special
    masked: list[Reals]
    is_silent: bool
    spreads: list[Any]

    def value(self, lo: Reals, hi: Reals, nan: Reals | bool = False, *how: Any) -> Quantity: ...  # noqa: ANN401
    def element_of(self, name: str) -> Element: ...
    def is_point(self, a: Quantity) -> bool: ...
    def round_once(self, lo: Reals, hi: Reals, nan: Reals | bool, *how: Any) -> Quantity: ...  # noqa: ANN401
    def widen(
        self,
        lo: Reals,
        hi: Reals,
        nan: Reals | bool,
        k: float,
        lost: float | Reals,
        *how: Any,  # noqa: ANN401
    ) -> Quantity: ...
    def exact_sum(self, a: Quantity, b: Quantity) -> tuple[Reals, Reals, Reals]: ...
    def store(self, a: Quantity, form: Element) -> Quantity: ...
    def note(self, reason: Reason, where: Reals) -> None: ...
