"""Depth: how far roundings at every step may move each number, by products of slopes: docs/numerics.md#depth.

This file has the sums.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import DIVIDE_ROUNDINGS
from kfuzz.oracle.numbers.elements import F32, F64, FORMATS, Reals
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.systems.absent import present
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.cloud import Cloud
from kfuzz.oracle.systems.exact import ScatterKind, scatter_places
from kfuzz.oracle.systems.perturbed import Perturbed, sum_of
from kfuzz.oracle.systems.room import OPERATIONS_4096, ROUNDINGS_256
from kfuzz.oracle.systems.rules.growth import accumulator, growth, is_mma, mma_sizes
from kfuzz.oracle.systems.rules.total import present_terms
from kfuzz.oracle.systems.rules.welford import LEVELS, UNEVEN
from kfuzz.oracle.systems.value import Axes, Quantity

AT_ONCE = 1 << 22
"""How many numbers of probes a product of matrices takes at a time, so that windows of all probes need no memory."""
WIDE = (F32.name, F64.name, "compensated")
"""The accumulators that round by u at most."""


class Depth(Perturbed):
    """The same with sums, of which each has a tube of its own."""

    def sum(self, a: Cloud, sum: str = "sum", axis: Axes = -1) -> Cloud:
        return self.dot(a, None, sum, axis)

    def mean(self, a: Cloud, sum: str = "mean", axis: Axes = -1) -> Cloud:
        n = count_along(a.shape, axis)
        total = self.sum(a, sum, axis)
        own = self.rounded(0.0 if n & (n - 1) == 0 else 2.0, 2 * self.tiny)
        return self.step(total.x / n, [(1 / n, total)], 0.0, own)

    def dot(self, a: Cloud, b: Cloud | None, sum: str = "dot", axis: Axes = -1) -> Cloud:
        """The sum of products, or of the numbers themselves."""
        if self.claim.for_sum(sum).accumulate not in WIDE or (self.claim.operand and b is not None):
            raise OracleError("sums of this kind have no bound by slopes")
        shape = a.shape if b is None else np.broadcast_shapes(a.shape, b.shape)
        terms = count_along(shape, axis)
        if isinstance(axis, int) and shape == a.shape:
            terms = present_terms(self, a, sum, axis)  # type: ignore[arg-type]
        grown = growth(self, sum, terms, int(b is not None), a.terms is not None)  # type: ignore[arg-type]
        each, lift = self.each(a, sum, grown.most)
        rest: Any
        slopes: list[tuple[Any, Cloud]]
        if b is None:
            x, slopes, size, rest = a.x, [(1.0, a)], a.size, 0.0
        else:
            x, size, rest = a.x * b.x, a.size * b.size, a.R * b.R
            slopes = [(2 * a.x, a)] if a is b else [(b.x, a), (a.x, b)]
        axes = axis if isinstance(axis, tuple) else (axis,)
        over = tuple(one % len(shape) - len(shape) for one in axes)
        moved = sum_of(slope * one.probes(len(shape)) for slope, one in slopes if not one.is_known)
        if np.ndim(moved):
            moved = np.broadcast_to(moved, (len(moved), *shape)).sum(axis=over, keepdims=True)
        made, most, exact, left, grow = (
            np.broadcast_to(part, shape).sum(axis=over, keepdims=True)
            for part in (x, size, np.abs(x), rest, size * more_than(each))
        )
        own = self.additions(made, most, most - exact, grow, sum) + int(b is not None) * 2 * self.u * most
        own = self.with_float64(own, terms + 1, most)
        lost = grown.lost * lift + self.flushed(terms)
        reach = np.maximum(most - np.abs(made), 0.0)
        off = self.moved_by(most, exact, terms + 1)
        result = self.made(made, moved, reach, left, own * OPERATIONS_4096 + lost, off)
        return self.held(result, sum)

    def additions(self, x: Reals, size: Reals, off: Reals, grow: Reals, sum: str) -> Reals:
        """What the additions of a sum round; `grow`: by the sizes of all terms, `off`: how far x may be off.

        In any order a partial sum is at most the sum of the terms of one sign. A claim that counts the additions on a
        term's way bounds all partial sums of one depth together, by the sizes of all terms.
        """
        claim = self.claim.for_sum(sum)
        if claim.adds is not None or claim.order is not None or claim.accumulate not in (F32.name, F64.name):
            return grow
        return grow * np.where(size > 0, (size + np.abs(x) + off) / np.where(size > 0, 2 * size, 1.0), 0.0)

    def moved_by(self, size: Reals, exact: Reals, terms: float) -> Reals:
        """How far tubes move a sum: by the sizes of its terms in them and without them, which err themselves."""
        return np.asarray(np.maximum(size - exact, 0.0) + 4 * terms * F64.u * size)

    def with_float64(self, own: Reals, terms: float, size: Reals) -> Reals:
        """What a sum rounds, and what this file's own sum of so many terms does, in whichever order numpy adds.

        A bound for float64 kernels has room for both already, if the claim does not count fewer additions.
        """
        here = terms * F64.u * size
        return np.maximum(own, here) if self.f is F64 else own + here

    def held(self, made: Cloud, sum: str) -> Cloud:
        """A sum that was added up in double is rounded once more.

        The weight of an infinite term may underflow in a kernel, and then the term is NaN.
        """
        if any_of(made.x == -np.inf):
            raise OracleError("a sum of infinite terms has no bound by slopes")
        is_wide = accumulator(self, sum).u < self.u  # type: ignore[arg-type]
        return self.step(made.x, [(1.0, made)], 0.0, self.rounded(1.0)) if is_wide else made

    def flushed(self, terms: int) -> float:
        """What products with a factor that is flushed lose."""
        return 2 * terms * self.f.min_normal if self.ftz else 0.0

    def each(self, a: Cloud, sum: str, grown: float) -> tuple[Reals | float, float]:
        """The growth of each term, with the exponents of an online sum (R10), and what underflow is multiplied by."""
        if a.terms is None:
            return grown, 1.0
        rescaled = self.claim.for_sum(sum).rescales != 0
        return grown + (self.u * ROUNDINGS_256 * a.terms[0] if rescaled else 0.0), a.terms[1]

    def matmul(self, a: Cloud, b: Cloud, sum: str = "matmul", starts: Sequence[Quantity] = ()) -> Cloud:
        if self.claim.for_sum(sum).accumulate not in (*WIDE, "mma"):
            raise OracleError("sums of this kind have no bound by slopes")
        first = present(starts)
        terms = present_terms(self, a, sum)  # type: ignore[arg-type]
        grown = growth(self, sum, terms, 1, a.terms is not None, len(first))  # type: ignore[arg-type]
        each, lift = self.each(a, sum, grown.most)
        x = np.matmul(a.x, b.x)
        A, B = a.size, b.size
        cut = 2 * FORMATS[self.claim.operand].u * ROUNDINGS_256 if self.claim.operand else 0.0
        size = np.matmul(A, B)
        wide = [mma_sizes(self, one) for one in (A, B)] if is_mma(self, sum) else [A, B]  # type: ignore[arg-type]
        is_plain = np.ndim(each) == 0 and not is_mma(self, sum)  # type: ignore[arg-type]
        grow = size * more_than(each) if is_plain else np.matmul(wide[0] * more_than(each), wide[1])
        are_known = a.is_known and b.is_known
        exact = size if are_known else np.matmul(np.abs(a.x), np.abs(b.x))
        own = self.additions(x, size, size - exact, grow, sum)
        own = own + (2 * cut + cut * cut + 2 * self.u) * size
        rest = 0.0 if a.is_known or b.is_known else np.matmul(a.R, b.R)
        for start in first:
            assert isinstance(start, Cloud)
            x, size, own = x + start.x, size + start.size, own + start.size * more_than(np.max(each))
            exact = exact + start.size - start.R
        own = self.with_float64(own, terms + len(first) + 1, size)
        lost = grown.lost * lift + terms * self.tiny
        if self.ftz:
            least = self.f.min_normal
            lost = lost + self.flushed(terms) + np.matmul(np.minimum(A, least), B) + np.matmul(A, np.minimum(B, least))
        moved = self._moved(a, b, x.ndim)
        for start in first:
            if isinstance(start, Cloud) and not start.is_known:
                moved = moved + start.probes(x.ndim)
        reach, off = np.maximum(size - np.abs(x), 0.0), self.moved_by(size, exact, terms + len(first) + 1)
        return self.held(self.made(x, moved, reach, rest, own * OPERATIONS_4096 + lost, off), sum)

    def _moved(self, a: Cloud, b: Cloud, dimensions: int) -> Any:  # noqa: ANN401
        """What the probes of both operands make of a product, some probes at a time."""
        count = max(len(one.table) for one in (a, b))
        if a.is_known and b.is_known:
            return 0.0
        many = AT_ONCE // max(1, *(one.x.size for one in (a, b) if not one.is_known)) or 1
        parts = []
        for start in range(0, count, many):
            some = slice(start, start + many)
            part: Any = 0.0
            if not a.is_known:
                part = part + product_of(a.probes(dimensions, some), b.x)
            if not b.is_known:
                turned = product_of(b.probes(dimensions, some).swapaxes(-1, -2), a.x.swapaxes(-1, -2))
                part = part + turned.swapaxes(-1, -2)
            parts.append(part)
        return np.concatenate(parts)

    def scatter(
        self, into: Cloud, index: Reals, values: Cloud, how: ScatterKind = "sum", sum: str = "scatter", axis: int = -1
    ) -> Cloud:  # fmt: skip
        if how != "sum":
            raise OracleError("values that are put at places have no bound by slopes")
        at = scatter_places(index, values.shape, axis)
        terms = np.zeros(into.shape)
        np.add.at(terms, at, 1.0)
        x, size, off = into.x.copy(), np.array(into.size), np.array(np.broadcast_to(into.R, into.shape))
        np.add.at(x, at, values.x)
        np.add.at(size, at, np.broadcast_to(values.size, values.shape))
        np.add.at(off, at, np.broadcast_to(values.R, values.shape))
        grown = growth(self, sum, int(terms.max(initial=0.0)) + 1)  # type: ignore[arg-type]
        moved: Any = 0.0
        if not (into.is_known and values.is_known):
            count = max(len(into.table), len(values.table))
            moved = np.array(np.broadcast_to(into.probes(x.ndim), (count, *x.shape)))
            at_each: Any = (slice(None), *at)
            np.add.at(moved, at_each, np.broadcast_to(values.probes(x.ndim), (count, *values.shape)))
        own = self.with_float64(size * more_than(grown.most) + grown.lost, float(terms.max(initial=0.0)) + 1, size)
        own = np.where(terms > 0, own, 0.0)
        return self.held(self.made(x, moved, np.maximum(size - np.abs(x), 0.0), 0.0, own, off), sum)

    def running_sum(self, a: Cloud, sum: str = "scan", exclusive: bool = False) -> Cloud:
        grown = growth(self, sum, a.shape[-1])  # type: ignore[arg-type]
        x, size, off = (np.cumsum(np.broadcast_to(part, a.shape), axis=-1) for part in (a.x, a.size, a.R))
        moved = 0.0 if a.is_known else np.cumsum(a.probes(x.ndim), axis=-1)
        if exclusive:
            x, size, off = (_later(part) for part in (x, size, off))
            moved = _later(moved) if np.ndim(moved) else moved
        own = self.with_float64(size * more_than(grown.most) * OPERATIONS_4096 + grown.lost, a.shape[-1], size)
        return self.held(self.made(x, moved, np.maximum(size - np.abs(x), 0.0), 0.0, own, off), sum)

    def mean_var(
        self, x: Cloud, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Cloud, Cloud]:
        """The mean, and the variance, whose slope does not go through the mean: the sum of x - mean is 0."""
        n = count_along(x.shape, axis)
        if n <= correction:
            raise OracleError("a variance of nothing has no bound by slopes")
        mean = self.mean(x, sums[0], axis)
        total: Any = {"axis": axis, "keepdims": True}
        off = x.x - mean.x
        wide = np.abs(off) + x.R + mean.R
        squares, most = (np.sum(part * part, **total) for part in (off, wide))
        size = np.sum(x.size * x.size, **total)
        grown = growth(self, sums[1], n, 1)  # type: ignore[arg-type]
        own = more_than(grown.most + 3 * self.u) * most + grown.lost
        if self.form.startswith("welford"):
            steps = float(self.claim.for_sum(sums[0]).most(n)[0]) + 1
            spread = np.max(wide, **total)
            joined = np.sqrt(most * steps * UNEVEN) + LEVELS * 2 * np.sqrt(n) * spread
            H = self.u * ROUNDINGS_256 * (steps * np.sqrt(size) + 3 * joined) + np.sqrt(n) * steps * n * self.tiny
            mean = self.nudged(mean, H / np.sqrt(n))
            own = more_than((steps + 8) * self.u) * most + 3.2 * np.sqrt(most) * H + H * H + 4 * n * self.tiny
        elif self.form.startswith("moments"):
            middle = np.abs(mean.x) + mean.R
            off_mean = more_than((steps_of(self, sums[0], n) + 4) * self.u) * np.sum(x.size, **total) / n
            own = more_than(grown.most + 6 * self.u) * size + n * (
                2 * middle * off_mean + off_mean**2 + 4 * self.u * (middle + off_mean) ** 2
            )
            own = own + grown.lost
        own = self.with_float64(own, n + 4, most)
        rest = np.sum((x.R + mean.R) ** 2, **total)
        moved = 0.0 if x.is_known else np.sum(2 * off * x.probes(off.ndim), **total)
        by = float(n - correction)
        var = self.made(
            squares / by,
            moved / by,
            np.maximum(most - squares, 0.0) / by,
            rest / by,
            lambda size: own * OPERATIONS_4096 / by + self.rounded(2.0, 2 * self.tiny)(size),
            self.moved_by(most, squares, n + 4) / by,
        )
        if not self.form.startswith("moments"):
            var.floor = 0.0
        return mean, var

    def average(self, e: Cloud, v: Cloud, sums: tuple[str, str] = ("pv", "row")) -> Cloud:
        """sum e v / sum e, where e may be divided first; what is kept narrow in one sum alone errs there alone."""
        row, made = self.sum(e, sums[1]), self.matmul(e, v, sums[0])
        count = DIVIDE_ROUNDINGS[self.claim.divide] * self.u * ROUNDINGS_256
        narrow = e.how[1].u if e.how[:1] == ("kept",) else 0.0
        more = (count + narrow) * np.matmul(e.size, v.size)
        return self.div(self.nudged(made, more), row)


def product_of(many: Reals, b: Reals) -> Reals:
    """[probes, *batch, rows, n] @ [*batch, n, columns], as few products of large matrices as there can be.

    numpy multiplies one matrix of each batch at a time, and would read the weights of a layer again for each probe.
    """
    axes = many.ndim - 3
    b = b.reshape(*(1,) * (axes + 2 - b.ndim), *b.shape)
    own = [axis for axis in range(axes) if b.shape[axis] > 1]
    shared = [axis for axis in range(axes) if b.shape[axis] == 1]
    order = [*(axis + 1 for axis in own), 0, *(axis + 1 for axis in shared), axes + 1, axes + 2]
    apart = many.transpose(order)
    rows = apart.reshape(*apart.shape[: len(own)], -1, apart.shape[-1])
    made = np.matmul(rows, b.reshape(*(b.shape[axis] for axis in own), *b.shape[-2:]))
    whole = made.reshape(*made.shape[: len(own)], *apart.shape[len(own) : -1], made.shape[-1])
    return np.asarray(whole.transpose(np.argsort(order)))


def more_than(g: Reals | float) -> Any:  # noqa: ANN401
    """More than e^g - 1: the first-order error g of a sum whose partial sums are themselves larger by e^g at most."""
    return g * np.exp(g)


def steps_of(N: Depth, sum: str, n: int) -> float:
    return float(min(N.claim.for_sum(sum).most(n)[0], 2**40))


def _later(part: Any) -> Any:  # noqa: ANN401
    return np.concatenate([0 * part[..., :1], part[..., :-1]], axis=-1)
