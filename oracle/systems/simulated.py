"""A simulated kernel: every step of a formula rounded to a format, sums in a chosen order, functions with noise.

It validates enclosures in any format and order, with flushed denormals, fused additions, narrow operands and
tensor-core sums. It shares the formula with the enclosure; kernels that do not are in
`tests/oracle/selfcheck/independent.py`. Knows no bound.
Long, since it has every word of formulas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kfuzz.oracle.accuracy.functions import FUNCTIONS
from kfuzz.oracle.accuracy.rounding import ACCUMULATOR_FORMATS, NARROW_SUMS, Accuracy
from kfuzz.oracle.numbers.elements import F32, F64, FORMATS, Element, Reals
from kfuzz.oracle.numbers.grid import grid_of
from kfuzz.oracle.numbers.groups import value_of_block
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import count_along, fold, unfold
from kfuzz.oracle.systems.exact import Exact, ScatterKind, scatter_places
from kfuzz.oracle.systems.value import Axes, Operand, Quantity

Noise = Literal["none", "any", "ends", "high", "low"]
SumOrder = Literal["sequential", "tree", "strided", "blocked", "random"]


@dataclass(frozen=True)
class KernelManner:
    """How a simulated kernel computes what the claim leaves open."""

    order: SumOrder = "tree"
    noise: Noise = "none"
    fused: bool = False
    width: int = 32
    divide: Literal["ieee", "reciprocal"] = "ieee"
    cuts: bool = False
    seed: int = 0


class Simulated(Exact):
    """One kernel; the claim says which formats and models it uses."""

    def __init__(
        self, claim: Accuracy, manner: KernelManner, sizes: Mapping[str, int], work: Element = F32, form: str = "",
        index: Mapping[str, Reals] | None = None, formats: Mapping[str, Element] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(sizes, form, index=index, formats=formats)
        self.claim, self.manner, self.f = claim, manner, work
        self.rng = np.random.default_rng(manner.seed)
        self.accumulator = ACCUMULATOR_FORMATS.get(claim.accumulate, work)

    def round(self, x: Reals, form: Element | None = None) -> Reals:
        """Round to a format, and flush denormals if the claim says so."""
        form = form or self.f
        y = form.round(np.asarray(x, dtype=np.float64))
        return form.flush(y) if self.claim.ftz else y

    def round_sum(self, x: Reals) -> Reals:
        """Round to the accumulator's format."""
        if self.claim.accumulate == "mma":
            return self.accumulator.truncate(x)
        return self.round(x, self.accumulator)

    def input(self, x: Reals) -> Quantity:
        x = np.asarray(x, dtype=np.float64)
        return self.value(self.f.flush(x) if self.claim.ftz else x)

    def number(self, value: Operand) -> Quantity:
        return value if isinstance(value, Quantity) else self.value(self.f.round(np.asarray(value, dtype=np.float64)))

    def add(self, a: Quantity, b: Quantity) -> Quantity:
        return self.value(self.round(a.x + b.x))

    def sub(self, a: Quantity, b: Quantity) -> Quantity:
        return self.value(self.round(a.x - b.x))

    def mul(self, a: Quantity, b: Quantity) -> Quantity:
        return self.value(self.round(a.x * b.x))

    def div(self, a: Quantity, b: Quantity) -> Quantity:
        if self.manner.divide == "reciprocal":
            return self.value(self.round(a.x * self.round(1 / b.x)))
        return self.value(self.round(a.x / b.x))

    def add_noise(self, y: Reals, units: float) -> Reals:
        """Return a number within so many u of y: rounded, then moved by up to (units - 1) / 2 last places."""
        most = int((units - 1) // 2)
        y = self.round(y)
        if self.manner.noise == "none" or not most:
            return y
        match self.manner.noise:
            case "any":
                steps = self.rng.integers(-most, most + 1, y.shape)
            case "ends":
                steps = self.rng.choice(np.array([-most, most]), y.shape)
            case "high":
                steps = np.full(y.shape, most)
            case _:
                steps = np.full(y.shape, -most)
        moved = self.round(y + steps * self.f.last_place(y))
        return np.where(np.isfinite(y) & (y != 0), np.where(np.sign(moved) == -np.sign(y), 0.0, moved), y)

    def exp(self, a: Quantity) -> Quantity:
        y = self.add_noise(np.exp(a.x), self.claim.exp.a0)
        return self.value(
            np.where(a.x == 0, 1.0, np.where(a.x == -np.inf, 0.0, np.where(np.isnan(y), y, np.maximum(y, 0))))
        )

    def function(self, name: str, a: Quantity) -> Quantity:
        row, exact = FUNCTIONS[name], super().function(name, a).x
        if row.course == "step":
            return self.value(exact)
        return self.value(np.clip(self.add_noise(exact, self.claim.function(name).a0), row.least, row.most))

    def function_of_two(self, name: str, a: Operand, b: Operand) -> Quantity:
        return self.value(self.add_noise(super().function_of_two(name, a, b).x, self.claim.function(name).a0))

    def rsqrt(self, a: Quantity) -> Quantity:
        return self.function("rsqrt", a)

    def keep(self, a: Quantity, name: str) -> Quantity:
        narrow = self.claim.narrow_format(name)
        return a if narrow is None else self.value(FORMATS[narrow].round(a.x))

    # -- groups that share a scale, and grids

    def scale(self, amax: Quantity, onto: str, name: str, least: Operand = 0.0, least_scale: Operand = 0.0) -> Quantity:
        """The scale as it is stored, by the claimed form."""
        grid, stored = grid_of(self.element_of(onto)), self.formats.get(name, self.f)
        amax = self.maximum(amax, least)
        if self.claim.quantize.scale == "exponent of amax":
            exponent = np.frexp(amax.x)[1] - np.frexp(grid.largest)[1]
            made = self.value(np.ldexp(1.0, np.maximum(exponent, stored.least)))
        else:
            made = self.maximum(self.div(amax, self.number(grid.largest)), least_scale)
            if self.claim.quantize.scale == "power of two up" or stored.kind == "power":
                fraction, exponent = np.frexp(made.x)
                made = self.value(np.ldexp(1.0, np.maximum(exponent - (fraction == 0.5), stored.least)))
        return self.value(stored.round(np.asarray(made.x, dtype=np.float64)))

    def quantize(self, a: Quantity, scale: Quantity, name: str, zero: Quantity | None = None) -> Quantity:
        grid, rounding = grid_of(self.element_of(name)), self.claim.quantize.round
        t = self.div(a, self.value(value_of_block(scale.x, a.blocks, a.shape))).x
        t = np.where(np.isnan(t) & (a.x == 0), 0.0, t)
        if zero is not None:
            t = np.rint(t) + value_of_block(zero.x, a.blocks, a.shape)
        if rounding == "stochastic":
            low, high = grid.round(t, "down"), grid.round(t, "up")
            with np.errstate(all="ignore"):
                up = self.rng.random(t.shape) < (t - low) / (high - low)
            made = self.value(np.where(up, high, low))
        else:
            made = self.value(grid.round(t, rounding))
        made.blocks, made.name = a.blocks, name
        return made

    # -- sums

    def fold(self, x: Reals) -> Reals:
        """Add the last axis up in the manner's order."""
        n = x.shape[-1]
        if n == 0:
            return np.zeros((*x.shape[:-1], 1))
        match self.manner.order:
            case "random":
                return self._random(x)
            case "sequential":
                return self._in_sequence(x)
            case "blocked":
                width = self.manner.width
                parts = [self._in_sequence(x[..., i : i + width]) for i in range(0, n, width)]
                return self._in_sequence(np.concatenate(parts, axis=-1))
            case "strided":
                held = x[..., : self.manner.width]
                for start in range(self.manner.width, n, self.manner.width):
                    here = min(self.manner.width, n - start)
                    joined = self.round_sum(held[..., :here] + x[..., start : start + here])
                    held = np.concatenate([joined, held[..., here:]], axis=-1)
                return self._tree(held)
            case _:
                return self._tree(x)

    def _tree(self, x: Reals) -> Reals:
        while (n := x.shape[-1]) > 1:
            half = (n + 1) // 2
            x = np.concatenate([self.round_sum(x[..., : n - half] + x[..., half:]), x[..., n - half : half]], axis=-1)
        return x

    def _in_sequence(self, x: Reals) -> Reals:
        held = x[..., :1]
        for place in range(1, x.shape[-1]):
            held = self.round_sum(held + x[..., place : place + 1])
        return held

    def _random(self, x: Reals) -> Reals:
        while (n := x.shape[-1]) > 1:
            x = x[..., self.rng.permutation(n)]
            pairs = int(self.rng.integers(1, n // 2 + 1))
            joined = self.round_sum(x[..., :pairs] + x[..., pairs : 2 * pairs])
            x = np.concatenate([joined, x[..., 2 * pairs :]], axis=-1)
        return x

    def _compensated(self, x: Reals) -> Reals:
        """Add up by Kahan's scheme, left to right; a sum of nothing is 0."""
        s = x[..., :1] if x.shape[-1] else np.zeros((*x.shape[:-1], 1))
        excess = np.zeros_like(s)
        for place in range(1, x.shape[-1]):
            y = self.round(x[..., place : place + 1] - excess)
            t = self.round(s + y)
            excess, s = self.round(self.round(t - s) - y), t
        return s

    def total(self, x: Reals) -> Reals:
        """The sum of the last axis, rounded back to the working format."""
        if self.claim.accumulate == "compensated":
            return self._compensated(x)
        return self.round(self.fold(self.round_sum(x) if self.claim.accumulate in NARROW_SUMS else x))

    def sum(self, a: Quantity, sum: str = "sum", axis: Axes = -1) -> Quantity:
        return unfold(self.value(self.total(fold(a, axis).x)), a.shape, axis)

    def mean(self, a: Quantity, sum: str = "mean", axis: Axes = -1) -> Quantity:
        n, total = count_along(a.x.shape, axis), self.sum(a, sum, axis).x
        if self.manner.divide == "reciprocal":
            return self.value(self.round(total * self.round(np.asarray(1.0 / n))))
        return self.value(self.round(total / n))

    def sum_products(self, p: Reals) -> Reals:
        """Add up products along the last axis: each rounded first, or fused into a sequential sum."""
        if self.claim.accumulate == "mma" or not self.manner.fused:
            return self.total(p if self.claim.accumulate in ("mma", F64.name) else self.round(p))
        held = self.round_sum(p[..., :1])
        for place in range(1, p.shape[-1]):
            held = self.round_sum(held + p[..., place : place + 1])
        return self.round(held)

    def dot(self, a: Quantity, b: Quantity, sum: str = "dot", axis: Axes = -1) -> Quantity:
        products = self.value(a.x * b.x)
        return unfold(self.value(self.sum_products(fold(products, axis).x)), products.shape, axis)

    def matmul(self, a: Quantity, b: Quantity, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Quantity:
        """Multiply matrices, with sums in the manner's order that begin at the starts."""
        x, y = a.x, b.x
        if self.claim.operand:
            form = FORMATS[self.claim.operand]
            x, y = (form.truncate(v) if self.manner.cuts else form.round(v) for v in (x, y))
        products = x[..., :, None, :] * np.swapaxes(y, -1, -2)[..., None, :, :]
        first = [np.broadcast_to(start.x, products.shape[:-1])[..., None] for start in present(starts)]
        return self.value(self.sum_products(np.concatenate([*first, products], axis=-1))[..., 0])

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        y = a.x.copy()
        if self.claim.accumulate == "compensated":
            y = np.concatenate([self._compensated(y[..., : place + 1]) for place in range(y.shape[-1])], axis=-1)
        elif self.manner.order == "sequential":
            for place in range(1, y.shape[-1]):
                y[..., place] = self.round_sum(y[..., place - 1] + y[..., place])
        else:  # Hillis and Steele
            step = 1
            while step < y.shape[-1]:
                y = np.concatenate([y[..., :step], self.round_sum(y[..., step:] + y[..., :-step])], axis=-1)
                step *= 2
        if exclusive:
            y = np.concatenate([np.zeros((*y.shape[:-1], 1)), y[..., :-1]], axis=-1)
        return self.value(self.round(y))

    def product(self, a: Quantity, sum: str = "product", axis: Axes = -1) -> Quantity:
        """Multiply in sequence, or by halves; a tensor core adds products and makes none of many factors."""
        x = fold(a, axis).x
        while (n := x.shape[-1]) > 1:
            half = (n + 1) // 2 if self.manner.order != "sequential" else n - 1
            x = np.concatenate(
                [self.round(x[..., : n - half] * x[..., half:], self.accumulator), x[..., n - half : half]], axis=-1
            )
        x = x if x.shape[-1] else np.ones((*x.shape[:-1], 1))
        return unfold(self.value(self.round(x)), a.shape, axis)

    def running_product(self, a: Quantity, sum: str = "product") -> Quantity:
        y, step = a.x.copy(), 1
        if self.manner.order == "sequential":
            for place in range(1, y.shape[-1]):
                y[..., place] = self.round(y[..., place - 1] * y[..., place], self.accumulator)
        while self.manner.order != "sequential" and step < y.shape[-1]:  # Hillis and Steele
            y = np.concatenate([y[..., :step], self.round(y[..., step:] * y[..., :-step], self.accumulator)], axis=-1)
            step *= 2
        return self.value(self.round(y))

    def scatter(
        self, into: Quantity, index: Reals, values: Quantity, how: ScatterKind = "sum", sum: str = "scatter",
        axis: int = -1,
    ) -> Quantity:  # fmt: skip
        """Add the values one after another: the first one first, or in any order."""
        if how != "sum":
            return super().scatter(into, index, values, how, sum, axis)
        made, at = into.x.copy(), scatter_places(index, values.shape, axis)
        count = values.shape[axis]
        order = self.rng.permutation(count) if self.manner.order == "random" else np.arange(count)
        for place in order:
            one = tuple(np.take(np.broadcast_to(part, values.shape), [place], axis) for part in at)
            made[one] = self.round_sum(made[one] + np.take(values.x, [place], axis))
        return self.value(self.round(made))

    # -- derived

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]:
        if axis != -1:
            mean, variance = self.mean_var(fold(x, axis), sums, correction)
            return unfold(mean, x.shape, axis), unfold(variance, x.shape, axis)
        n = x.x.shape[-1]
        if self.form.startswith("welford"):
            mean, squares = (self.value(self.round(part)) for part in self._welford(x.x))
            return mean, self.div(squares, self.number(float(n - correction)))
        mean = self.mean(x)
        if self.form.startswith("moments"):
            second = self.div(self.dot(x, x), self.number(float(n)))
            return mean, self.sub(second, self.mul(mean, mean))
        off = self.sub(x, mean)
        return mean, self.div(self.dot(off, off), self.number(float(n - correction)))

    def _welford(self, x: Reals) -> tuple[Reals, Reals]:
        """Mean and sum of squares, element by element or by Chan's tree."""
        n = x.shape[-1]

        def r(value: Reals) -> Reals:
            return self.round(value, self.accumulator)

        if self.manner.order == "sequential":
            mean, squares = x[..., :1], np.zeros_like(x[..., :1])
            for k in range(2, n + 1):
                off = r(x[..., k - 1 : k] - mean)
                mean = r(mean + r(off / k))
                squares = r(squares + r(off * r(x[..., k - 1 : k] - mean)))
            return mean, squares
        mean, squares, count = x, np.zeros_like(x), np.ones(n)
        while mean.shape[-1] > 1:
            size = mean.shape[-1]
            half = (size + 1) // 2
            pairs = size - half
            a, b = count[:pairs], count[half:]
            off = r(mean[..., half:] - mean[..., :pairs])
            joined = r(mean[..., :pairs] + r(off * r(b / (a + b))))
            both = r(r(squares[..., :pairs] + squares[..., half:]) + r(r(off * off) * r(a * b / (a + b))))
            mean = np.concatenate([joined, mean[..., pairs:half]], axis=-1)
            squares = np.concatenate([both, squares[..., pairs:half]], axis=-1)
            count = np.concatenate([a + b, count[pairs:half]])
        return mean, squares

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        weights = self.sum(e)
        if self.form == "normalize first":
            return self.matmul(self.keep(self.div(e, weights), "p"), v)
        return self.div(self.matmul(e, v), weights)


__all__ = ["Any", "KernelManner", "Simulated"]
