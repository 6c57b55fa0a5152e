"""Operands of float32 products as tensor cores take them: in TF32, with 10 digits behind the point and float32's range.

Knows one operand at a time, and torch's names for products. docs/numerics.md#twins
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum, auto
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kfuzz.claims.references.torch.twins.sets import MOST_SINGLE, NumberSet, to_infinity

UNIT = 2.0**-11
"""Half of the step between two numbers of TF32, relative to them."""
DIGITS, LEAST_EXPONENT = 11, -125
"""As frexp has numbers: the digits of one, and the exponent of the least normal one."""
CUT_TYPES = (torch.float32, torch.float64)
"""Types of which operands are rounded; those of 16 bits have no more digits."""


BY_ELEMENTS = frozenset((torch.einsum, torch.outer, torch.ger))
"""Products of matrices of which torch makes products of single numbers, where it adds only one."""


class WatchedProducts(TorchFunctionMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Knows whether such a product runs."""

    def __init__(self) -> None:
        super().__init__()
        self.is_within = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Do what torch does."""
        if func not in BY_ELEMENTS:
            return func(*args, **(kwargs or {}))
        with self.within():
            return func(*args, **(kwargs or {}))

    @contextmanager
    def within(self) -> Iterator[None]:
        was, self.is_within = self.is_within, True
        try:
            yield
        finally:
            self.is_within = was


class CutWay(Enum):
    """How operands are rounded: tensor cores ignore the last digits, cvt goes to the nearest, with ties to even or away
    from 0. A factor that is multiplied in before makes any of it.
    """

    TO_ZERO = auto()
    TO_EVEN = auto()
    AWAY = auto()
    ANY = auto()


KNOWN_WAYS = (CutWay.TO_ZERO, CutWay.TO_EVEN, CutWay.AWAY)


def in_tf32(x: torch.Tensor, way: CutWay) -> torch.Tensor:
    """Numbers in TF32; infinite beyond the largest one."""
    exponent = torch.frexp(x).exponent.clamp(min=LEAST_EXPONENT)
    parts = torch.ldexp(x, DIGITS - exponent)
    match way:
        case CutWay.TO_EVEN:
            parts = parts.round()
        case CutWay.AWAY:
            parts = (parts.abs() + 0.5).floor().copysign(parts)
        case _:
            parts = parts.trunc()
    made = torch.where(x.isfinite(), torch.ldexp(parts, exponent - DIGITS), x)
    return torch.where(made.abs() > MOST_SINGLE, torch.inf * made.sign(), made)


def cut(one: NumberSet, way: CutWay) -> NumberSet:
    """An operand in TF32: both ends of its set rounded in one way, and in any way if it is a share, of which a kernel
    may round the exponential. One beyond the largest number may be anything.
    """
    if one.dtype not in CUT_TYPES:
        return one
    if way is CutWay.ANY or one.is_share:
        return cut_in_any_way(one)
    x, r = in_tf32(one.number, way), one.r
    if r is not None:
        low, high = in_tf32(one.end(-1), way), in_tf32(one.end(1), way)
        r = torch.where(one.number.isfinite(), to_infinity(torch.maximum(high - x, x - low)), r)
    is_beyond = x.isinf() & one.number.isfinite()
    if bool(is_beyond.any()):
        r = torch.where(is_beyond, torch.inf, one.radius if r is None else r)
        x = torch.where(is_beyond, one.number, x)
    return replace(one, x=x, r=r, facts=None, known_size=None)


def cut_in_any_way(one: NumberSet) -> NumberSet:
    """An operand by whatever rounding, or none; exact numbers of TF32 stay what they are."""
    known = (one.radius == 0) & (in_tf32(one.number, CutWay.TO_ZERO) == one.number)
    reach = one.size + one.radius
    lost = torch.where(known | ~one.number.isfinite(), 0.0, 2 * UNIT * reach)
    lost = torch.where(one.number.isfinite() & (reach + lost > MOST_SINGLE), torch.inf, lost)
    return replace(one, r=one.radius + lost, facts=None)
