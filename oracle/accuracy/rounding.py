"""The accuracy that a kernel claims, as counts of roundings and models of its functions.

Knows float32's roundings and the orders of summation, but no op. Relative errors are in units of u = 2^-24.
Long, since it has every number that a claim may state.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Literal, get_args

from kfuzz.oracle.accuracy.functions import FUNCTIONS, OF_TWO
from kfuzz.oracle.accuracy.quantizing import Quantizing
from kfuzz.oracle.numbers.elements import F32, F64, FLOATS, I32, NARROW
from kfuzz.oracle.numbers.tensor_cores import ADDERS

U = F32.u
"""Half a unit in the last place of float32: the largest relative error of one correctly rounded operation."""


@dataclass(frozen=True)
class Order:
    """The order in which n items are combined into one.

    "sequential": left to right. "tree": the upper half onto the lower, repeatedly. "strided": `width` threads each
    take every width-th item, left to right, then a tree. "random": random pairs, from `seed`.
    """

    kind: Literal["sequential", "tree", "strided", "random"]
    width: int = 1
    seed: int = 0


FAR = 104.0
"""exp(-104) < 2^-150: beyond this distance from the maximum a term is less than half of the smallest float32.

docs/numerics.md#a4
"""


@dataclass(frozen=True)
class ExpModel:
    """exp^(t) = e^t (1 + eps) + eta with |eps| <= (a0 + kappa |t|) u; exact at 0 and at -inf.

    `base_two`: the argument is x log2(e) - m log2(e), which is not x - m rounded, and not 0 at the maximum.
    docs/numerics.md#a2, docs/numerics.md#a3, docs/numerics.md#base-2
    """

    a0: float
    kappa: float
    base_two: bool = False

    def __post_init__(self) -> None:
        if not (self.a0 >= 1 and self.kappa >= 0 and self.a0 + FAR * self.kappa <= 2**16):
            raise ValueError(
                f"exp = [{self.a0:g}, {self.kappa:g}]: expected a0 >= 1 (rounding alone is 1 unit of 2^-24) and "
                f"kappa >= 0, with a0 + 104 kappa at most 65536; expf is [5, 0]"
            )


EXPF = ExpModel(5.0, 0.0)
"""`expf` as documented: 2 ulp from the correctly rounded result, so 2.5 ulp = 5 u from the true one."""

FAST_EXPF = ExpModel(5.0, 2.346)
"""`__expf` as documented: 2 + floor(1.173 |t|) ulp."""

EXP2_SCALED = ExpModel(5.0, 0.0, base_two=True)
"""`exp2f(fmaf(x, log2e, -m * log2e))`: exp2f as documented, 2 ulp."""

FAST_EXP2_SCALED = ExpModel(4.0, 0.0, base_two=True)
"""The same by ex2.approx; PTX documents a relative error of at most 2^-22."""

Divide = Literal["ieee", "reciprocal", "fast", "fast reciprocal"]
Denominator = Literal["row", "element"]
Shift = Literal["any", "running max", "zero"]
Atomics = Literal["none", "global"]
RoundedSums = Literal["nearest", "directed"]

NARROW_SUMS = {one.name: one for one in FLOATS if one.name in NARROW and not one.is_narrow}
"""The narrow formats in which a kernel may accumulate."""
ACCUMULATOR_FORMATS = {F64.name: F64, **NARROW_SUMS}
"""The accumulator formats that a claim may name; otherwise sums have the format in which the kernel computes."""
FLOAT_ACCUMULATORS = (F32.name, F64.name, "compensated", *NARROW_SUMS, "mma")
ACCUMULATORS = (*FLOAT_ACCUMULATORS, *ADDERS, I32.name)
"""The words of a claim for its accumulator; an integer one holds sums of products of integers, exactly."""
CHOICES = {
    "accumulate": ACCUMULATORS, "divide": get_args(Divide), "denominator": get_args(Denominator),
    "shift": get_args(Shift), "atomics": get_args(Atomics), "additions": get_args(RoundedSums),
}  # fmt: skip
"""The words that some fields of an Accuracy may hold."""

OWN_ACCUMULATORS = (F32.name, F64.name, "compensated", *NARROW_SUMS)
"""The words for the accumulator of one sum by name."""

DIVIDE_ROUNDINGS: dict[Divide, int] = {"ieee": 1, "reciprocal": 2, "fast": 5, "fast reciprocal": 6}
"""e / s; e * (1 / s); the same two by `__fdividef` or under -prec-div=false, whose quotient errs by 2 ulp."""
QUOTIENT_ROUNDINGS: dict[Divide, int] = {"ieee": 1, "reciprocal": 1, "fast": 5, "fast reciprocal": 5}
"""One quotient by itself."""


@dataclass(frozen=True)
class FunctionModel:
    """f^(t) = f(t) (1 + eps) + delta with |eps| <= a0 u and |delta| <= absolute, for |t| <= within; nothing beyond."""

    a0: float
    absolute: float = 0.0
    within: float = math.inf

    def __post_init__(self) -> None:
        if not (self.a0 >= 1 and 0 <= self.absolute < 1 and self.within > 0):
            raise ValueError(
                f"[{self.a0:g}, {self.absolute:g}]: expected at least 1 unit of u, and less than 1 absolute"
            )


LOOSEST: dict[str, FunctionModel] = {
    name: FunctionModel(row.units)
    for name, row in (FUNCTIONS | OF_TWO).items()
    if name != "exp" and getattr(row, "course", "") != "step"
}
"""The documented errors of the accurate functions; exp has a model of its own, and steps are exact."""


def _count_of(counts: "int | Mapping[str, int | None] | None", name: str) -> int | None:
    return counts.get(name, counts.get("*")) if isinstance(counts, Mapping) else counts


@dataclass(frozen=True)
class Accuracy:
    """The rounding that a kernel claims. A default is the loosest sound value, except for `denominator`.

    `adds`: the most additions on any term's way into a sum (None: as many as the sum has terms).
    `rescales`: the most multiplications of a term by an exp (None: as many as adds; 0: three-pass).
    `shift`: "any": the shift never falls, is never more than `shift_slack` below a term from which it is subtracted,
    and ends within `shift_slack` of the true maximum; "running max": every exp is of the difference of two maxima, each
    of a set of terms that contains the term; "zero": nothing is subtracted, and exp is of the term itself.
    `ftz`: denormals are flushed to zero.
    `atomics`: "global" if a sum passes through atomicAdd on floats in global memory, which flushes denormals.
    `additions`: "directed" if sums are rounded up, down or toward zero: each addition then counts as two.
    `denominator`: "row" if all elements of a row are divided by the same stored sum.
    `order`: a named order, which gives exact counts for each element instead of adds and rescales.
    `exact_shift`: the shift is the true maximum and x - max is one float32 subtraction: a conformance check.
    `form`: the formula's form that the kernel computes (None: any). `keep`: values in a narrower format, by name.
    `operand`: the format of the factors of matrix products. `functions`: models of functions other than exp.
    `shared`: the values of which one stored copy serves a whole row (None: all). Counts may be given by named sum.
    `accumulators`: sums with an accumulator of their own, by name; all others have `accumulate`.
    `promote`: after so many products a tensor core's sum of 8-bit floats is added to a float32 and begins again.
    `quantize`: how scales and codes are made.
    `rounds`: those of the values in `keep` that every right kernel rounds, to the nearest.
    """

    adds: int | Mapping[str, int | None] | None = None
    rescales: int | Mapping[str, int | None] | None = None
    exp: ExpModel = EXPF
    divide: Divide = "reciprocal"
    accumulate: str = F32.name
    shift: Shift = "any"
    shift_slack: float = 0.0
    ftz: bool = False
    atomics: Atomics = "none"
    additions: RoundedSums = "nearest"
    denominator: Denominator = "row"
    order: Order | None = None
    exact_shift: bool = False
    form: str | None = None
    keep: Mapping[str, str] = field(default_factory=dict)
    operand: str | None = None
    functions: Mapping[str, FunctionModel] = field(default_factory=dict)
    shared: tuple[str, ...] | None = None
    promote: int | None = None
    quantize: Quantizing = field(default_factory=Quantizing)
    rounds: tuple[str, ...] = ()
    accumulators: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, given in (("adds", self.adds), ("rescales", self.rescales)):
            for value in given.values() if isinstance(given, Mapping) else (given,):
                if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 0):
                    raise ValueError(f"{name}={value}: expected a count of at least 0")
        for name, narrow in (*self.keep.items(), ("operand", self.operand)):
            if narrow not in (None, *NARROW):
                raise ValueError(f"{name}={narrow!r}: expected one of {', '.join(NARROW)}")
        if not 0 <= self.shift_slack <= FAR:
            raise ValueError(f"shift_slack={self.shift_slack}: expected 0 to {FAR:g}: beyond that exp underflows")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(known)}")
        for name, kind, wanted in (
            ("exp", ExpModel, "an ExpModel, such as EXPF, FAST_EXPF or EXP2_SCALED"),
            ("order", Order | None, "an Order, or None for any"),
            ("promote", int | None, "a number of products, or None"),
            ("quantize", Quantizing, "a Quantizing"),
            ("ftz", bool, "True or False"),
            ("exact_shift", bool, "True or False"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{name}={getattr(self, name)!r}: expected {wanted}")
        adder = ADDERS.get(self.accumulate)
        if self.promote is not None and (adder is None or self.promote < 1 or self.promote % adder.together):
            wanted = " or ".join(
                f"a multiple of {one.together} with accumulate={name!r}" for name, one in ADDERS.items()
            )
            raise ValueError(f"promote={self.promote}: expected {wanted}")
        self._check_accumulators()
        self._check_rounds()
        self._check_shift()

    def _check_accumulators(self) -> None:
        """Raise an error if a sum by name has an accumulator that is for all sums or for none."""
        for name, word in self.accumulators.items():
            if word not in OWN_ACCUMULATORS:
                raise ValueError(f"accumulators[{name!r}]={word!r}: expected one of {', '.join(OWN_ACCUMULATORS)}")

    def _check_rounds(self) -> None:
        """Raise an error if a value must be rounded that the claim does not keep in a narrower format."""
        for name in self.rounds:
            if name not in self.keep or NARROW[self.keep[name]].is_narrow:
                raise ValueError(f"rounds={name!r}: expected a value that keep holds in a format of 16 bits or more")

    def _check_shift(self) -> None:
        """Raise an error if the statements about the shift contradict each other."""
        if self.exact_shift and self.shift_slack:
            raise ValueError(f"exact_shift with shift_slack={self.shift_slack}: an exact shift has no slack")
        if self.exact_shift and self.exp.base_two:
            raise ValueError("exact_shift with an exp of base 2: x log2(e) - m log2(e) is not a difference of floats")
        if self.shift != "any" and self.shift_slack:
            raise ValueError(f"shift={self.shift!r} with shift_slack={self.shift_slack}: this shift has no slack")
        if self.shift == "zero" and (self.rescales or self.exact_shift):
            raise ValueError(f"shift='zero' with rescales={self.rescales}: expected 0, because nothing is subtracted")

    def for_sum(self, name: str) -> "Accuracy":
        """The same claim with the counts of one named sum, and its accumulator; "*" gives those of all others."""
        if self.accumulators:
            own = self.accumulators.get(name, self.accumulate)
            return replace(self, accumulate=own, accumulators={}).for_sum(name)
        if not isinstance(self.adds, Mapping) and not isinstance(self.rescales, Mapping):
            return self
        known = self._by_sum.get(name)
        if known is None:
            counts = _count_of(self.adds, name), _count_of(self.rescales, name)
            known = self._by_sum[name] = replace(self, adds=counts[0], rescales=counts[1])
        return known

    @cached_property
    def _by_sum(self) -> "dict[str, Accuracy]":
        return {}

    def most(self, terms: int) -> tuple[int, int]:
        """The additions and rescales of a sum of so many terms: as claimed, or the most that are possible."""
        if isinstance(self.adds, Mapping) or isinstance(self.rescales, Mapping):
            raise ValueError("counts by name: choose a sum with for_sum() first")
        adds = terms if self.adds is None else self.adds
        return adds * self.roundings_per_addition, adds if self.rescales is None else self.rescales

    def most_rescales(self, terms: int) -> int:
        """The rescales of whichever sum has most of them."""
        counts = self.rescales.values() if isinstance(self.rescales, Mapping) else [self.rescales]
        return min(max((terms if count is None else count) for count in list(counts) or [None]), 2**40)

    @property
    def roundings_per_addition(self) -> int:
        """How many roundings to nearest one addition counts as: a directed one errs by at most 2 u."""
        return 2 if self.additions == "directed" else 1

    def function(self, name: str) -> FunctionModel:
        """The model of a function: the claimed one, else the loosest documented one."""
        return self.functions.get(name, LOOSEST[name])

    def narrow_format(self, name: str) -> str | None:
        """The narrower format of the value of this name, if the claim gives one."""
        return self.keep.get(name)

    @property
    def shift_is_exact(self) -> bool:
        """Whether each exponent is the difference of two terms, so that exp(0) is exactly 1 at the top.

        docs/numerics.md#a3, docs/numerics.md#a5
        """
        return self.shift_slack == 0 and self.shift != "zero" and not self.exp.base_two

    @property
    def subtracts_terms(self) -> bool:
        """Whether only terms are subtracted from terms, on the whole way of every term."""
        is_running = self.shift == "running max" and not self.exp.base_two
        return is_running or (self.shift_is_exact and self.rescales == 0)

    @property
    def detour(self) -> float:
        """How far the sizes of a term's exponents may add up beyond its distance d from the maximum.

        With a slack g, the shift begins at the term - g or above and rises to at most the maximum + g: by d + 2 g,
        after an exponent of g. A term that is never rescaled has one exponent, of at most d + g.
        docs/numerics.md#shift-slack
        """
        return self.shift_slack * (1 if self.rescales == 0 else 3)

    @property
    def eta0(self) -> float:
        """The largest absolute error of one exp where its result is denormal (docs/numerics.md#underflow)."""
        return self.tiny if self.ftz else (self.exp.a0 + FAR * self.exp.kappa) * F32.tiny

    @property
    def tiny(self) -> float:
        """The largest absolute error of one product or quotient that underflows (docs/numerics.md#underflow)."""
        return F32.min_normal if self.ftz else F32.tiny

    @property
    def flush(self) -> float:
        """The largest term or partial sum that may be flushed to zero (docs/numerics.md#atomics)."""
        return F32.min_normal if self.ftz or self.atomics == "global" else 0.0

    @property
    def ubar(self) -> float:
        """u with its second order: -log(1 - k u) <= k ubar for every single factor, with k at most `most`.

        docs/numerics.md#one-factor
        """
        most = self.exp.a0 + (1 + self.exp.kappa) * (FAR + self.shift_slack)
        return U * (1 + most * U)
