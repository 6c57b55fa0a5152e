"""A set beside each number of a tensor: its exact value and a radius, and the types that such numbers have.

Knows torch's types; it knows no operation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from kfuzz.claims.references.torch.storage import flat
from kfuzz.claims.references.torch.twins.factors import ONE, Factor, Product, SeenProduct, SingleFactor

SINGLE = 2.0**-24
UNITS: dict[torch.dtype, float] = {
    torch.float64: SINGLE, torch.float32: SINGLE, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8,
    torch.complex64: SINGLE, torch.complex128: SINGLE,
}  # fmt: skip
"""The unit roundoff of each type. What a reference computes in float64, a kernel may compute in float32."""
LEAST = {torch.float16: 2.0**-24}
"""What a result may lose because it is small: the step of the least numbers, or the least normal number of float32."""
TINY = 2.0**-126
MOST = {torch.float16: 65504.0, torch.bfloat16: float(torch.finfo(torch.bfloat16).max)}
MOST_SINGLE = float(torch.finfo(torch.float32).max)
FP4 = getattr(torch, "float4_e2m1fn_x2", None)
_GRIDS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2")
GRIDS = frozenset(getattr(torch, name) for name in _GRIDS if hasattr(torch, name))
"""Types of few numbers: a value is rounded to them at once, and its set is what lies between both ends."""
BITS_OF_WHOLE = 2.0**8
"""A number with so many steps in one, and below 2^12, leaves room in float32 for whatever order computes it."""


class UnstableError(Exception):
    """Python, a size or an index goes by a number that rounding may change: kfuzz does not judge this case."""


NOTHING = torch.zeros((), dtype=torch.float64)


@dataclass(frozen=True)
class NumberFacts:
    """What is known of many sets, and so of some of them. `is_finite`: no value is an infinity or NaN. `is_loose`: no
    value is exact. `reach`: no set reaches further from 0, and none has NaN.
    """

    is_finite: bool = False
    is_loose: bool = False
    reach: float = float("inf")


def facts_of(x: torch.Tensor, r: torch.Tensor | None) -> NumberFacts:
    """What two passes over the values and the radii tell."""
    if not x.numel() or x.is_complex() or not x.is_floating_point():
        return NumberFacts()
    most = max(map(abs, torch.stack(x.aminmax()).tolist()))
    least, away = (0.0, 0.0) if r is None else torch.stack(r.aminmax()).tolist()
    return NumberFacts(most < float("inf"), least > 0, most + away)


@dataclass(frozen=True, eq=False)
class NumberSet:
    """The numbers of an operand. `r`: how far each may be from `x`; None if all are exact.

    `is_literal`: it is a number of the reference's text. `is_share`: along the last axis they are shares of one sum.
    `is_undivided`: they are such shares, and a kernel may divide by their sum after a product.
    `facts`: what is known of all of them. `known_size`: their sizes, if they are there already.
    `joint`: what the numbers are together, such as those of some ranks. `writes`: of their arrays, so far.
    """

    x: torch.Tensor
    r: torch.Tensor | None
    dtype: torch.dtype
    is_literal: bool = False
    is_share: bool = False
    is_undivided: bool = False
    facts: "NumberFacts | None" = None
    known_size: torch.Tensor | None = None
    joint: "Ranked | RowRanks | None" = None
    writes: int = 0
    product: SeenProduct | None = None
    """Of products: their factors, which a kernel may multiply in another order."""
    top: torch.Tensor | None = None
    """No value lies above this, where a number is so low that it may be -infinity, and its radius is infinite."""

    @cached_property
    def known(self) -> "NumberFacts":
        return self.facts or facts_of(self.x, self.r)

    @property
    def radius(self) -> torch.Tensor:
        return NOTHING.expand(self.x.shape) if self.r is None else self.r

    @cached_property
    def number(self) -> torch.Tensor:
        """The values in float64."""
        return self.x if self.x.dtype in (torch.float64, torch.complex128) else self.x.double()

    @cached_property
    def size(self) -> torch.Tensor:
        return self.number.abs() if self.known_size is None else self.known_size

    @cached_property
    def is_exact(self) -> bool:
        if self.r is None or (self.facts is not None and self.facts.is_loose):
            return self.r is None or not self.r.numel()
        return not bool((self.r != 0).any())

    @property
    def factor(self) -> Factor:
        """The numbers as a factor of a product: those of a product are its factors. A later write changes none."""
        if self.product is not None:
            return self.product
        if self.x.dtype == torch.bool:
            return ONE
        known = vars(self).get("known", self.facts) or NumberFacts()
        numbers = self.number.clone() if self.writes else self.number
        return SingleFactor(numbers, {False: max(known.reach, 1.0)} if known.reach < float("inf") else {})

    @property
    def is_float(self) -> bool:
        return self.dtype in UNITS or (self.dtype in GRIDS and self.dtype != FP4)

    def end(self, sign: int) -> torch.Tensor:
        """One end of each set: an integer of integers, and of truths whether some is true, or all are."""
        if self.r is None:
            return self.x
        if self.x.dtype in (torch.float64, torch.complex128):
            end = self.x + sign * self.r
            return end if sign < 0 or self.top is None else torch.minimum(end, self.top)
        if self.x.dtype == torch.bool:
            return self.x & (self.r == 0) if sign < 0 else self.x | (self.r > 0)
        return self.x + sign * torch.where(self.r.isfinite(), self.r, 2.0**31).to(torch.int64)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Places in rows: right is each at which what was sought may lie.

    `among`: the numbers of all rows, [rows, places]. For each number `row`, which is -1 if it is no place, and
    `wanted`, which lies there. `is_once`: no place of a row may come twice but as the same `element`. `is_first`: of
    numbers that are equal, and known, the first is meant.
    """

    among: NumberSet
    row: torch.Tensor
    wanted: NumberSet
    element: torch.Tensor
    is_once: bool = False
    is_first: bool = False

    def at(self, elements: torch.Tensor) -> "Ranked":
        """Some of the places, by where they are in the order of all."""
        row, x, r, element = (
            one.reshape(-1)[elements] for one in (self.row, self.wanted.x, self.wanted.radius, self.element)
        )
        return replace(self, row=row, wanted=NumberSet(x, r, self.wanted.dtype), element=element)


@dataclass(frozen=True, eq=False)
class RowShares:
    """Numbers whose sum along an axis is one, but for what is `missing`: they are shares of one sum."""

    axis: int
    missing: torch.Tensor


@dataclass(frozen=True, eq=False)
class RowRanks:
    """For each number its row, and its rank in it: 0 is that of the largest one.

    `among`: the numbers of all rows, each along `axes`. `state`: by which they are known again.
    """

    among: NumberSet
    axes: Sequence[int]
    state: tuple[object, ...]
    row: torch.Tensor
    rank: torch.Tensor

    def at(self, elements: torch.Tensor) -> "RowRanks":
        """The ranks of some of the numbers, by their places in the order of all."""
        return replace(self, row=self.row.reshape(-1)[elements], rank=self.rank.reshape(-1)[elements])


@dataclass(frozen=True, eq=False)
class StepResult:
    """A result of one operation: what the operands' radii become, and what a kernel may lose in this step alone."""

    x: torch.Tensor
    r: torch.Tensor | None = None
    error: torch.Tensor | None = None
    joint: "Ranked | RowShares | RowRanks | None" = None
    product: Product | None = None
    top: torch.Tensor | None = None


def wide_type(dtype: torch.dtype) -> torch.dtype:
    """The type in which the values of a type are held."""
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else torch.bool if dtype == torch.bool else torch.int64


def numbers_of(one: torch.Tensor) -> torch.Tensor:
    """A tensor's values; of packed numbers the bytes."""
    return one.view(torch.uint8).to(torch.int64) if one.dtype == FP4 else one.to(wide_type(one.dtype))


def in_type(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Held values as a type has them."""
    if dtype == FP4:
        return x.to(torch.uint8).view(dtype)
    return x.float().to(dtype) if dtype in GRIDS else x.to(dtype)


def sets_in(given: Any) -> list[NumberSet]:  # noqa: ANN401  nested arguments
    return [one for one in flat([given]) if isinstance(one, NumberSet)]


def gamma(count: float, u: float) -> float:
    """The most by which so many roundings grow a sum of sizes; infinite if u says nothing any more."""
    return count * u / (1 - count * u) if count * u < 0.5 else float("inf")


def has_few_bits(x: torch.Tensor) -> torch.Tensor:
    """Which numbers are so short that no order of a few steps rounds them."""
    steps = x * BITS_OF_WHOLE
    return (steps == steps.round()) & (x.abs() < 2.0**12)


def are_all_short(x: torch.Tensor) -> bool:
    """Whether all numbers have few bits; of most arrays one row tells that they do not."""
    row = x[(0,) * (x.ndim - 1)] if x.ndim > 1 and x.numel() else x
    return bool(has_few_bits(row).all()) and bool(has_few_bits(x).all())


def is_power_of_two(x: torch.Tensor) -> torch.Tensor:
    return (torch.frexp(x).mantissa.abs() == 0.5) | (x == 0)


def to_infinity(r: torch.Tensor) -> torch.Tensor:
    """A radius that is not known as an infinite one."""
    return torch.where(r.isnan(), torch.inf, r)


def unknown_where(mask: torch.Tensor, x: torch.Tensor, r: torch.Tensor | None) -> torch.Tensor | None:
    """A radius that is infinite where nothing is known."""
    if not bool(mask.any()):
        return r
    return torch.where(mask, torch.inf, torch.zeros(x.shape, dtype=torch.float64) if r is None else r)
