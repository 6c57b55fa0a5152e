"""The accuracy a kernel claims, as counts of roundings and models of its functions.

Knows float32's roundings and nothing of any op. All relative errors are in units of u = 2^-24.
"""

from dataclasses import dataclass
from typing import Literal

U = 2.0**-24
"""Half a unit in the last place of float32: the largest relative error of one correctly rounded operation."""


@dataclass(frozen=True)
class ExpModel:
    """exp^(t) = e^t (1 + eps) + eta with |eps| <= (a0 + kappa |t|) u; exact at 0 and at -inf."""

    a0: float
    kappa: float


EXPF = ExpModel(5.0, 0.0)
"""`expf` as documented: 2 ulp from the correctly rounded result, so 2.5 ulp = 5 u from the true one."""

FAST_EXPF = ExpModel(5.0, 2.346)
"""`__expf` as documented: 2 + floor(1.173 |t|) ulp."""

Divide = Literal["ieee", "reciprocal", "fast"]
Accumulate = Literal["f32", "f64", "compensated"]
Denominator = Literal["row", "element"]


@dataclass(frozen=True)
class Accuracy:
    """What is claimed of the rounding; left out, each part is its loosest sound value.

    `adds`: at most so many additions on any one term's way into a sum (None: as many as the sum has terms).
    `rescales`: at most so many times a term is multiplied by an exp (None: as many as adds; 0: three-pass).
    `shift_slack`: the shift may differ from the true maximum by up to this much.
    `ftz`: denormals are flushed to zero.
    `denominator`: "row" when all elements of a row are divided by one and the same stored sum.
    """

    adds: int | None = None
    rescales: int | None = None
    exp: ExpModel = EXPF
    divide: Divide = "reciprocal"
    accumulate: Accumulate = "f32"
    shift_slack: float = 0.0
    ftz: bool = False
    denominator: Denominator = "row"
