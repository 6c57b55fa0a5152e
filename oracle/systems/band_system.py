"""What a rule may ask of the bands that it makes sets for. A rule knows this page, and not the bands themselves."""

from typing import Any, Protocol

from kfuzz.oracle.elements import Element, Reals
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.systems.ends import Endpoints
from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.verdict import Reason


class BandSystem(System, Protocol):
    """The words of a formula over sets, with the claim they are judged by and the steps that rules are made of.

    `f` is the format that a kernel computes in, `u` and `tiny` its rounding and underflow; `E` are the ends of the
    sets. `least`: the least normal number of the narrowest format that a factor of a matrix product may be in.
    `masked`: where each shift found nothing but -inf.
    """

    claim: Accuracy
    f: Element
    E: Endpoints
    u: float
    tiny: float
    least: float
    ftz: bool
    all_masked: str
    masked: list[Reals]

    def value(self, lo: Reals, hi: Reals, nan: Reals | bool = False, *how: Any) -> Quantity: ...  # noqa: ANN401
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
    def note(self, reason: Reason, where: Reals) -> None: ...
