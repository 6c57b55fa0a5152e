"""How a tensor core may add products: models of an addition, and random blocks that tell them apart.

gpu_hopper_tensor_cores.py fits them to what a GPU gives. Knows no GPU.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import BF16, E4M3, E5M2, F16, F32, TF32, Element, Reals

BYTES = 32
"""Of each factor's row, in one instruction of any type."""
TRIED = 4_000
"""Blocks by which a model is chosen; the chosen one is then held against all."""
Codes = NDArray[np.uint8]
Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Unit:
    """One instruction: how the program calls it, the types of its factors and of its sum."""

    name: str
    a: Element
    b: Element
    sum: Element

    @property
    def k(self) -> int:
        """How many products one instruction adds."""
        return 8 * BYTES // (32 if self.a is TF32 else self.a.bits)

    @property
    def third(self) -> int:
        """A place that is added with the first two: tf32 has four at once, mma.sync of 8 bits takes pairs apart."""
        return 2 if self.a is TF32 else 4

    @property
    def deepest(self) -> int:
        """The least exponent of a product that `power` makes."""
        return -12 if self.a.is_narrow else -28


UNITS = tuple(
    Unit(f"{way} {a} {b} {total}", a, b, total)
    for way in ("mma", "wgmma")
    for a, b, total in (
        (F16, F16, F32), (BF16, BF16, F32), (TF32, TF32, F32), *([(F16, F16, F16)] if way == "wgmma" else []),
        (E4M3, E4M3, F32), (E5M2, E5M2, F32), (E4M3, E5M2, F32), (E5M2, E4M3, F32), (E4M3, E4M3, F16),
    )
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    """How a block may be added: `kept` bits below the largest term of `together` terms, `digits` of each sum.

    `order`: as the terms lie, or the first two of every four before the other two. `start`: C is one of the terms, or
    is added at last, rounded to the nearest or cut to the same bits.
    """

    kept: int
    digits: int
    together: int
    order: Literal["as they lie", "by halves of four"] = "as they lie"
    start: Literal["a term", "added last", "cut last"] = "a term"

    def add(self, unit: Unit, a: Reals, b: Reals, c: Reals) -> Reals:
        """The sums of rows of factors, and c."""
        places = np.arange(unit.k)
        if self.order == "by halves of four":
            places = np.concatenate([places[places % 4 < 2], places[places % 4 >= 2]])
        a, b = a[:, places], b[:, places]
        exponents = exponents_of(a, unit.a) + exponents_of(b, unit.b)
        exponents = np.where((a == 0) | (b == 0), -1000, exponents)
        total = c if self.start == "a term" else np.zeros_like(c)
        for first in range(0, unit.k, self.together):
            at = slice(first, first + self.together)
            total = self._step(unit, a[:, at] * b[:, at], exponents[:, at].max(axis=1), total)
        if self.start == "added last":
            return unit.sum.round(total + c)
        if self.start == "cut last":
            return self._step(unit, c[:, None], np.where(c == 0, -1000, exponents_of(c, F32)), total)
        return total

    def _step(self, unit: Unit, terms: Reals, exponents: Reals, total: Reals) -> Reals:
        top = np.maximum(exponents, np.where(total == 0, -1000, exponents_of(total, unit.sum)))
        step = np.ldexp(1.0, np.maximum(top, -133).astype(int) - self.kept)
        exact = np.trunc(terms / step[:, None]).sum(axis=1) + np.trunc(total / step)
        made = exact * step
        if unit.sum is F16:
            return F16.round(made)
        place = np.ldexp(1.0, np.maximum(np.frexp(made)[1] - self.digits, -149))
        return np.trunc(made / place) * place


def exponents_of(x: Reals, form: Element) -> Reals:
    """The stored exponent of each number, that of the least normal one for a denormal."""
    return np.maximum(np.frexp(x)[1] - 1, form.least)


def models(unit: Unit) -> Iterator[Model]:
    """The models that are tried."""
    at_once = [one for one in (4, 8, 16, 32) if one <= unit.k]
    for kept, digits, together in product(range(9, 29), (12, 13, 14, 15, 16, 22, 23, 24), at_once):
        for start in ("a term", "added last", "cut last"):
            yield Model(kept, digits, together, "as they lie", start)
        if together == 16 < unit.k and kept >= 22:
            for start in ("a term", "added last"):
                yield Model(kept, digits, together, "by halves of four", start)


def random_blocks(unit: Unit, rng: np.random.Generator, count: int) -> tuple[Reals, Reals, Reals]:
    """Blocks of all codes, of near exponents, of few terms, and with terms that cancel; and C."""

    def drawn(form: Element) -> Reals:
        finite = form.numbers[np.isfinite(form.numbers)]
        near = rng.standard_normal((count, unit.k)) * 2.0 ** rng.integers(-2, 3, (count, 1))
        any_ = finite[rng.integers(0, len(finite), (count, unit.k))]
        return np.where(rng.random((count, 1)) < 0.5, any_, form.round(near))

    a, b = (drawn(unit.a), drawn(unit.b)) if unit.a.is_narrow else wide_factors(unit, rng, count)
    a[rng.random((count, unit.k)) < rng.choice([0.0, 0.5, 0.9], (count, 1))] = 0.0
    for later in range(1, unit.k, 2):  # the largest may cancel, so that the bits that it cut show
        back = rng.random(count) < 0.3
        a[back, later], b[back, later] = -a[back, later - 1], b[back, later - 1]
    size = np.abs(a * b).max(axis=1)
    size += np.where(size < 2.0**-100, 2.0**-149, 2.0**-20)
    c = rng.standard_normal(count) * size * 2.0 ** rng.integers(-12, 9, count) * rng.choice([0.0, 1.0], count)
    if unit.sum is F16:
        a, c = a * (size < 2.0**8)[:, None], np.clip(c, -(2.0**14), 2.0**14)
    return a, b, unit.sum.round(c)


def wide_factors(unit: Unit, rng: np.random.Generator, count: int) -> tuple[Reals, Reals]:
    """Factors of 16 bits or more: near ones, denormal and 0 by large, and some whose sums are denormal floats."""
    shape, form = (count, unit.k), unit.a
    exponent = rng.integers(-14, 7, shape) - np.where((rng.random((count, 1)) < 0.125) & (form is not F16), 138, 0)
    apart = rng.random(shape) < rng.choice([0.0, 0.3], (count, 1))
    left = np.where(apart, form.least + rng.integers(1 - form.p, 4, shape), exponent // 2)
    left = np.where(rng.random(shape) < 0.5, left, exponent - left)
    left = np.clip(left, form.least - form.p + 1, -form.least)
    right = np.clip(exponent - left, form.least - form.p + 1, -form.least)
    a, b = (form.round(rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape) * 2.0**one) for one in (left, right))
    return np.where(apart & (rng.random(shape) < 0.3), 0.0, a), b


def fit(unit: Unit, a: Reals, b: Reals, c: Reals, got: Reals) -> tuple[object, ...]:
    """The row of the model that gives most of the blocks, and how many of all."""

    def best_of(tried: Iterable[Model], count: int) -> list[Model]:
        some = slice(0, count)
        return sorted(tried, key=lambda one: -int((one.add(unit, a[some], b[some], c[some]) == got[some]).sum()))

    some = slice(0, TRIED)
    found = best_of(models(unit), 200)
    found = best_of(found[:40], TRIED)[0]
    equal = found.add(unit, a, b, c) == got
    alike = [
        one.kept
        for one in (replace(found, kept=k) for k in range(9, 29))
        if np.array_equal(one.add(unit, a[some], b[some], c[some]), found.add(unit, a[some], b[some], c[some]))
    ]
    kept = f"{alike[0]}" if len(alike) == 1 else f"{alike[0]} to {alike[-1]}"
    return (
        unit.name, kept, found.digits, f"{found.together} of {unit.k}, {found.order}", found.start,
        f"{int(equal.sum())} of {len(got)}",
    )  # fmt: skip
