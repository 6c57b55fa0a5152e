"""What a claim says of a quantizer: how its scale is made, how it rounds, and what it does at the ends.

A default is the loosest sound value. Knows roundings of float32; knows no op and no arrays.
docs/numerics.md#written-scale
"""

from dataclasses import dataclass, fields
from typing import Literal, get_args

from kfuzz.oracle.numbers.grid import Direction, Saturate

ScaleForm = Literal["amax / max", "power of two up", "exponent of amax"]
Apply = Literal["divide", "multiply"]
GridRounding = Literal["even", "away", "zero", "stochastic"]
NanGroup = Literal["element", "group"]
Zeros = Literal["eps", "one", "zero", "least"]
Logarithm = Literal["log2f"]


@dataclass(frozen=True)
class Quantizing:
    """How a kernel quantizes. None: the claim does not say.

    `scale`: "amax / max"; its power of two upwards; or 2 to the exponent of amax less the exponent of the largest
    number, as OCP's MX formats have it. None is "amax / max", and for a scale stored as powers of two either power.
    `apply`: x is divided by the scale that is written, or multiplied by an inverse that is made from amax.
    `round`: to the nearest, of two the even one or the one further from 0; toward 0; or at random, down or up.
    `saturate`: what becomes of a number beyond the largest; None: it is not judged.
    `nan`: a NaN makes its own element NaN, or the scale of its group; None: such a group is not judged.
    `zeros`: the scale of a group of zeros: that of `eps`, 1, 0, or the least of its format; None: any number.
    `log`: a power of two upwards is found by log2f, whose error moves the edge. `symmetric`: the least integer, such as
    -128, is never written.
    """

    scale: ScaleForm | None = None
    apply: Apply | None = None
    round: GridRounding = "even"
    saturate: Saturate | None = None
    nan: NanGroup | None = None
    zeros: Zeros | None = None
    log: Logarithm | None = None
    symmetric: bool = False

    def __post_init__(self) -> None:
        known: dict[str, tuple[object, ...]] = {
            "scale": (None, *get_args(ScaleForm)), "apply": (None, *get_args(Apply)), "round": get_args(GridRounding),
            "saturate": (None, *get_args(Saturate)), "nan": (None, *get_args(NanGroup)),
            "zeros": (None, *get_args(Zeros)), "log": (None, *get_args(Logarithm)), "symmetric": (False, True),
        }  # fmt: skip
        for field in fields(self):
            if (value := getattr(self, field.name)) not in known[field.name]:
                expected = ", ".join(str(word) for word in known[field.name] if word is not None)
                raise ValueError(f"{field.name}={value!r}: expected one of {expected}")

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """The directions in which the lower and the upper end of a set are rounded (N12)."""
        return ("down", "up") if self.round == "stochastic" else (self.round, self.round)
