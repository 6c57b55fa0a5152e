"""How far roundings at every step may move each number: the words for elements. docs/numerics.md#depth derives it.

A number is its exact value, the radius of a tube that holds what any right kernel has there, and what each probe of
the roundings before it makes of it, to first order. A step adds a perturbation of its own: its rounding anywhere in
the tubes of its operands, and what its slope leaves out. A word that this system does not have gives no bound.
Long, since it has every word for elements.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.functions import FUNCTIONS
from kfuzz.oracle.accuracy.rounding import DIVIDE_ROUNDINGS, FAR, Accuracy
from kfuzz.oracle.numbers.elements import FORMATS, Element, Reals
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.base_two import LOG2_E
from kfuzz.oracle.systems.cloud import Cloud, Draw, Tubes, known, tabled
from kfuzz.oracle.systems.ends import FloatEnds
from kfuzz.oracle.systems.exact import either_absent
from kfuzz.oracle.systems.loops import LoopWords
from kfuzz.oracle.systems.moves import MoveWords
from kfuzz.oracle.systems.room import NO_OVERFLOW, ROUNDINGS_256
from kfuzz.oracle.systems.slopes import SLOPES, sigmoid
from kfuzz.oracle.systems.value import Axes, Operand, Quantity, WordsForFunctions

INF = np.inf
MOST_ELEMENTS = 1 << 22
"""The most elements of all steps together: with more, each run of probes takes minutes."""
BEHIND = 1 + 2.0**-16
"""docs/numerics.md#depth: what float64 loses in the steps between two sums, relative to the sizes of a sum's tubes."""
NEAR = 2.0**-10
"""docs/numerics.md#depth: below it, e^R - 1 - R is R^2 / 2 and hardly more, and is lost in float64."""
CHORD = 2.0**-40
"""docs/numerics.md#depth: what float64 loses in a chord of 1 / sqrt, relative to its greatest value."""
Slopes = Sequence[tuple[Reals | float, Cloud]]


class Perturbed(MoveWords, LoopWords, WordsForFunctions):
    """One run of a formula with some probes. `draw`: makes probes; `tubes`: guesses the radii, or tests them."""

    inf = INF
    counts_absent = False

    def __init__(
        self, claim: Accuracy, sizes: Mapping[str, int], work: Element, form: str, index: Mapping[str, Reals],
        least: float, tubes: Tubes, draw: Draw,
    ) -> None:  # fmt: skip
        self.claim, self.sizes, self.f, self.form, self.indices = claim, sizes, work, form, index
        self.u, self.ftz = work.u, claim.ftz
        self.tiny = work.min_normal if claim.ftz else work.tiny
        self.least = max(least, work.min_normal)
        self.E: Any = FloatEnds(np.float64)
        self.tubes, self.draw = tubes, draw
        self.lost = 4 * work.min_normal if claim.ftz else 0.0  # of a result and its operands, if they are flushed
        self.elements, self.curved = 0, 0.0
        self.masked: list[Reals] = []

    # -- how every step is made

    def step(
        self, x: Reals, slopes: Slopes, rest: Reals | float, own: Any = 0.0, is_sum: bool = False,  # noqa: ANN401
    ) -> Cloud:  # fmt: skip
        """A value whose operands move it by these slopes, and by at most `rest` more.

        `own(size)`: its rounding, for numbers up to this size.
        """
        moved = sum_of(slope * a.probes(x.ndim) for slope, a in slopes if not a.is_known)
        reach = sum_of(np.abs(slope) * a.R for slope, a in slopes if not a.is_known)
        return self.made(x, moved, reach, rest, own, reach if is_sum else None)

    def made(self, x: Reals, moved: Any, reach: Any, rest: Any, own: Any, off: Any) -> Cloud:  # noqa: ANN401
        """The value with its own perturbation; its tube is what its operands' tubes allow, a sum's by probes also.

        `reach`: how far any partial sum lies from x. `off`: of a sum, how far its operands' tubes move it.
        """
        x = np.asarray(x)
        if any_of(np.isnan(x)) or any_of(x == INF):
            raise OracleError("a value that is no number has no bound by slopes")
        is_number = x != -INF
        reach = np.where(is_number, reach + rest, 0.0)
        size = np.where(is_number, np.abs(x), 0.0) + reach
        rounded = np.where(is_number, own(size) if callable(own) else own, 0.0)
        if self.lost:
            rounded = rounded + np.where(is_number & (size > 0), self.lost, 0.0)
        perturbed = rounded + np.where(is_number, rest, 0.0)
        if not all_of(size + rounded <= self.f.max * NO_OVERFLOW):
            raise OracleError("a value that may overflow has no bound by slopes")
        self.elements += x.size
        if self.elements > MOST_ELEMENTS:
            raise OracleError("a formula of so many elements has no bound by slopes")
        self.curved = max(self.curved, share_of(rest, perturbed))
        if np.ndim(moved) == 0 and not any_of(perturbed):
            return known(self, x)  # type: ignore[arg-type]  # without the words for grids
        moved = self.perturb(np.where(is_number, moved, 0.0), perturbed, x.shape)
        radius = reach + rounded  # rest is in reach
        if off is not None:
            radius = self.tubes.radius(moved, np.broadcast_to((off + perturbed) * BEHIND, x.shape))
        return tabled(self, x, np.broadcast_to(radius, x.shape), moved)  # type: ignore[arg-type]

    def settled(self, a: Cloud) -> Cloud:
        """The value with all its roundings: here each step has added its own."""
        return a

    def perturb(self, moved: Reals, perturbed: Reals, shape: tuple[int, ...]) -> Reals:
        """Add each probe's own perturbation of each element, where there is any."""
        perturbed = np.broadcast_to(perturbed, shape).ravel()
        places = np.flatnonzero(perturbed)
        drawn = self.draw((places.size,))
        moved = np.array(np.broadcast_to(moved, (len(drawn), *shape))).reshape(len(drawn), -1)
        if places.size == moved.shape[1]:
            moved += perturbed * drawn
        else:
            moved[:, places] += perturbed[places] * drawn
        return moved.reshape(len(drawn), *shape)

    def rounded(self, count: Reals | float, lost: Reals | float = 0.0) -> Any:  # noqa: ANN401
        """The error of so many roundings of a number, and what underflow takes."""
        return lambda size: count * self.u * ROUNDINGS_256 * size + lost

    # -- inputs and constants

    def input(self, x: Reals) -> Cloud:
        x = np.asarray(x, dtype=np.float64)
        low = self.ftz and any_of((np.abs(x) < self.f.min_normal) & (x != 0))
        if low or any_of(np.isnan(x)) or any_of(x == INF):
            flushed = np.where(np.abs(x) < self.f.min_normal, np.abs(x), 0.0)
            return self.made(x, 0.0, 0.0, flushed, 0.0, None)
        return known(self, x)  # type: ignore[arg-type]

    def number(self, value: Operand) -> Quantity:
        if isinstance(value, Quantity):
            return value
        x = np.asarray(value, dtype=np.float64)
        off = np.where(np.isfinite(x), np.abs(x - self.f.round(x)), 0.0)
        return self.made(x, 0.0, 0.0, off, 0.0, None) if any_of(off) else known(self, x)  # type: ignore[arg-type]

    def derived_number(self, value: float) -> Quantity:
        """Make a number that a kernel computes by three roundings at most."""
        return self.made(np.asarray(value), 0.0, 0.0, 3 * self.u * ROUNDINGS_256 * abs(value), 0.0, None)

    def index(self, dimension: str, axis: int = -1) -> Reals:
        return self.indices[dimension].reshape(-1, *(1,) * (-axis - 1))

    def size(self, dimension: str) -> int:
        return self.sizes[dimension]

    # -- sums and products of two

    def add(self, a: Cloud, b: Cloud) -> Cloud:
        made = self.step(a.x + b.x, [(1.0, a), (1.0, b)], 0.0, self.rounded(1.0), is_sum=True)
        if max(a.floor, b.floor) > -INF and not self.lost:
            least = sum(max(one.floor, float(np.min(one.x - one.R, initial=INF))) for one in (a, b))
            made.floor = least - self.u * ROUNDINGS_256 * abs(least)  # rounding keeps the order
        return made

    def sub(self, a: Cloud, b: Cloud) -> Cloud:
        """A difference; a shift cancels, however far a kernel's own lies from this one, and only its size matters."""
        if b.how[:1] != ("shift",):
            return self.step(a.x - b.x, [(1.0, a), (-1.0, b)], 0.0, self.rounded(1.0), is_sum=True)
        slack = b.how[2]
        made = self.step(a.x - b.x, [(1.0, a)], 0.0, lambda size: self.rounded(1.0)(size + slack))
        made.below = (a, b)
        return made

    def neg(self, a: Cloud) -> Cloud:
        if any_of(a.x == -INF):
            raise OracleError("a value that is infinite has no bound by slopes")
        made = a.like((-a.x, *a.parts[1:]), ("neg", a))
        if not a.is_known:
            made.table, made.whole = -a.table, a.whole
        return made

    def mul(self, a: Cloud, b: Cloud) -> Cloud:
        power = any(one.is_known and is_power(one.x) for one in (a, b))
        lost = (self.tiny + self.lost) * self.chain(a) * self.chain(b)
        if not all_of(self.chain(a) * self.chain(b) < self.f.max):
            raise OracleError("a product that may overflow in some order has no bound by slopes")
        own = self.rounded(0.0 if power else 1.0, lost)
        rest = a.R * b.R
        slopes = [(2 * a.x, a)] if a is b else [(b.x, a), (a.x, b)]
        with np.errstate(invalid="ignore"):
            may_be_zero = [np.abs(one.x) - one.R - self.lost <= 0 for one in (a, b)]
            if any_of((a.x * b.x == -INF) & (may_be_zero[0] | may_be_zero[1])):
                raise OracleError("a product of infinity and what may be 0 has no bound by slopes")
            made = self.step(a.x * b.x, slopes, rest, lambda size: np.where(size > 0, own(size), 0.0))
        made.slack, made.absent = self.chain(a) * self.chain(b), either_absent(a, b)
        return made

    def chain(self, a: Cloud) -> Reals:
        """What a loss to underflow in any factor may be multiplied by."""
        return np.asarray(np.maximum(np.maximum(a.size, 1.0), a.slack))

    def div(self, a: Cloud, b: Cloud) -> Cloud:
        least = np.abs(b.x) - b.R - self.lost
        if any_of(least <= 0) or (self.claim.divide != "ieee" and not self._is_divisible(least, b)):
            raise OracleError("a divisor that may be 0 has no bound by slopes")
        x = a.x / b.x
        rest = b.R * (a.R + np.abs(x) * b.R) / (np.abs(b.x) * least)
        count = DIVIDE_ROUNDINGS[self.claim.divide]
        own = self.rounded(count, count * self.tiny * np.maximum(a.size, 1.0))
        return self.step(x, [(1 / b.x, a), (-x / b.x, b)], rest, own)

    def _is_divisible(self, least: Reals, b: Cloud) -> bool:
        end = 2.0 ** (self.f.bias - 2)
        return bool(all_of(least > 1 / end) and all_of(b.size < end))

    # -- functions

    def function(self, name: str, a: Cloud) -> Cloud:  # type: ignore[override]  # of its own numbers
        if name == "exp":
            return self._exp(a)
        row = FUNCTIONS[name]
        with np.errstate(all="ignore"):
            x = row.doubles(a.x)
            if row.course == "step":
                low, high = row.doubles(a.x - a.R), row.doubles(a.x + a.R)
                return self.step(x, [], np.maximum(np.abs(high - x), np.abs(x - low)))
            if self.lost and any_of(np.abs(a.x - row.start) - a.R < self.lost):
                raise OracleError(f"{name} of a number that may be flushed has no bound by slopes")
            slope, curvature = SLOPES[name]
            model = self.claim.function(name)
            if any_of(a.size > model.within):
                raise OracleError(f"{name} has no model there")
            if name == "rsqrt" and a.floor > 0 and any_of(a.x < 64 * a.R):
                return self._rsqrt(a, self.rounded(model.a0, model.absolute + model.a0 * self.tiny))
            rest = curvature(a.x, a.R) * a.R * a.R / 2
            own = self.rounded(model.a0, model.absolute + model.a0 * self.tiny)
            return self.step(x, [(slope(a.x, x), a)], np.where(a.R > 0, rest, 0.0), own)

    def _rsqrt(self, a: Cloud, own: Any) -> Cloud:  # noqa: ANN401
        """1 / sqrt(x) of what is positive: by the chord over its tube, which is above it by `gap` at most."""
        lo, hi = np.maximum(a.x - a.R, min(a.floor, float(np.min(a.x)))), a.x + a.R
        least, most, x = 1 / np.sqrt(hi), 1 / np.sqrt(lo), 1 / np.sqrt(a.x)
        slope = np.where(a.R > 0, (least - most) / np.where(a.R > 0, hi - lo, 1.0), -0.5 * x**3)
        touches = (-2 * slope) ** (-2 / 3)
        gap = np.where(a.R > 0, np.maximum(most + slope * (touches - lo) - 1 / np.sqrt(touches), 0.0), 0.0)
        middle = np.where(a.R > 0, most + slope * (a.x - lo) - gap / 2, x)
        rest = gap / 2 + CHORD * most * (a.R > 0)
        reach = np.maximum(most - middle, middle - least) * (a.R > 0)  # it falls
        moved = slope * a.probes(a.x.ndim) if not a.is_known else 0.0
        return self.made(middle, moved, np.maximum(reach - rest, 0.0), rest, own, None)

    def _exp(self, a: Cloud) -> Cloud:
        """e^x; of a difference from a shift, relative to a kernel's own shift."""
        model, slack = self.claim.exp, np.zeros(())
        more: Reals | float = 0.0
        if a.below is not None:
            top = a.below[1]
            if model.base_two or self.claim.shift == "zero":
                raise OracleError("this exp of a difference has no bound by slopes")
            slack = top.how[2]
            if self.claim.shift == "any" and not a.below[0].is_known:
                more = self._folded(*a.below)
        finite = np.where(np.isfinite(a.x), a.x, 0.0)
        size = np.minimum(np.abs(finite) + a.R + slack, -np.log(self.f.tiny) + 1)
        count = model.a0 + model.kappa * size + more
        eta = (self.f.min_normal if self.ftz else (model.a0 + FAR * model.kappa) * self.f.tiny) * np.exp(slack)
        x = np.exp(a.x)
        rest = np.exp(finite) * np.minimum(np.exp(a.R) * a.R * a.R / 2, np.where(a.R > NEAR, np.expm1(a.R) - a.R, INF))
        own = np.where(a.x == -INF, 0.0, count * self.u * ROUNDINGS_256 * np.exp(finite + a.R) + 2 * eta)
        made = self.step(x, [(x, a)], np.where(a.x == -INF, 0.0, rest), own)
        if a.below is not None:
            made.terms = size + slack, float(np.exp(2 * np.max(slack, initial=0.0)))
        made.how = ("exp", a)
        return made

    def _folded(self, x: Cloud, top: Cloud) -> Reals:
        """The error, in u, of a shift that is folded into the scale, at every rescale (R10)."""
        size = np.where(np.isfinite(x.x), x.size, 0.0).max(axis=top.how[1], keepdims=True, initial=0.0)
        most = self.claim.rescales
        times = most if isinstance(most, int) else x.shape[-1]
        return np.asarray(size * (2 * min(times, 2**40) + 1 + 2 * LOG2_E))

    def sigmoid(self, a: Cloud) -> Cloud:
        x, (slope, curvature) = sigmoid(a.x), SLOPES["sigmoid"]
        rest = curvature(a.x, a.R) * a.R * a.R / 2
        model = self.claim.exp
        count = model.a0 + model.kappa * np.minimum(a.size, FAR) + 1 + DIVIDE_ROUNDINGS[self.claim.divide]
        vanishes = a.x - a.R < -np.log(self.f.max) + 1  # where e^-x overflows, the answer is 0

        def own(size: Reals) -> Reals:
            return np.where(vanishes, size, self.rounded(count, 4 * self.tiny)(size))

        return self.step(x, [(slope(a.x, x), a)], rest, own)

    def pow(self, a: Operand, b: Operand) -> Quantity:
        base, exponent = self.number(a), self.number(b)
        assert isinstance(base, Cloud)
        if not isinstance(exponent, Cloud) or exponent.shape or not exponent.is_known:
            raise OracleError("a power that is no constant has no bound by slopes")
        p = float(exponent.x)
        least, most = np.abs(base.x) - base.R, base.size
        if (p != int(p) and any_of(base.x - base.R <= 0)) or (p < 2 and any_of(least <= 0)):
            raise OracleError("such a power of what may be 0 has no bound by slopes")
        far = np.where(p >= 2, most, np.maximum(least, 0.0))
        x = base.x**p
        rest = abs(p * (p - 1)) * far ** (p - 2) * base.R * base.R / 2
        turn = np.minimum(np.abs(np.log(np.where(most > 0, most, 1.0)) * p), FAR)
        count = self.claim.function("pow").a0 + abs(p) + 2 * turn
        lost = self.tiny * np.maximum(most, 1.0) ** max(p, 1.0)
        return self.step(x, [(p * base.x ** (p - 1), base)], rest, self.rounded(count, lost))

    # -- selection

    def max(self, a: Cloud, axis: Axes = -1) -> Cloud:
        """The greatest: another element may be, where the tubes of both meet."""
        axes = tuple(one % len(a.shape) for one in (axis if isinstance(axis, tuple) else (axis,)))
        rest = [one for one in range(len(a.shape)) if one not in axes]
        if not count_along(a.shape, axis):
            return known(self, np.max(np.zeros(a.shape), axis=axes, keepdims=True, initial=-INF))  # type: ignore[arg-type]
        sizes = [a.shape[one] for one in rest]
        flat = a.permuted((*rest, *axes)).reshaped(*sizes, count_along(a.shape, axis))
        assert isinstance(flat, Cloud)
        place = np.expand_dims(np.argmax(flat.x, axis=-1), -1)
        top = self.take(flat, place)
        with np.errstate(invalid="ignore"):
            near = np.where(np.isfinite(flat.x), flat.R + top.R - (top.x - flat.x), 0.0)
        np.put_along_axis(near, place, 0.0, axis=-1)
        made = self.nudged(top, np.maximum(near.max(axis=-1, keepdims=True), 0.0))
        farthest = np.broadcast_to(flat.R, flat.shape).max(axis=-1, keepdims=True) + self.lost
        made.parts = (made.x, np.minimum(made.R, farthest), *made.parts[2:])  # no greatest moves by more
        shaped = made.reshaped(*(1 if one in axes else n for one, n in enumerate(a.shape)))
        assert isinstance(shaped, Cloud)
        return shaped

    def nudged(self, a: Cloud, by: Reals) -> Cloud:
        """The same value, which may be off by so much more."""
        return self.step(a.x, [(1.0, a)], by) if any_of(by) else a

    def shift(self, a: Cloud, axis: int = -1) -> Cloud:
        """It cancels, so that no error of it goes on; a kernel's own may differ as far as its claim and tube say."""
        x = np.max(np.broadcast_to(a.x, a.shape), axis=axis, keepdims=True, initial=-INF)
        R = np.max(np.broadcast_to(a.R, a.shape), axis=axis, keepdims=True, initial=0.0)
        made = known(self, x)  # type: ignore[arg-type]
        made.parts, made.table = (x, R, *made.parts[2:]), np.zeros((1, 2))  # no probe moves it, but it has a tube
        made.how = ("shift", axis, R + self.claim.shift_slack)
        return made

    def maximum(self, a: Operand, b: Operand) -> Cloud:
        """The greater: where the tubes meet, by the slope of the chord over both, which leaves out least."""
        first, second = self.number(a), self.number(b)
        assert isinstance(first, Cloud)
        assert isinstance(second, Cloud)
        gap, reach = first.x - second.x, first.R + second.R
        near = np.maximum(reach - np.abs(gap), 0.0)
        near = np.where(np.isnan(near), 0.0, near)
        share = np.where(near > 0, 0.5 + gap / np.where(reach > 0, 2 * reach, 1.0), first.x >= second.x)
        slopes = [(share, first), (1 - share, second)]
        return self.step(np.maximum(first.x, second.x), slopes, near / 2)

    def minimum(self, a: Operand, b: Operand) -> Cloud:
        first, second = (self.neg(self.number(one)) for one in (a, b))  # type: ignore[arg-type]
        return self.neg(self.maximum(first, second))

    def where(self, mask: Reals, a: Operand, b: Operand) -> Cloud:
        first, second = self.number(a), self.number(b)
        assert isinstance(first, Cloud)
        assert isinstance(second, Cloud)
        shape = np.broadcast_shapes(np.shape(mask), first.shape, second.shape)
        x, R, _, A = (np.where(mask, p, q) for p, q in zip(first.parts, second.parts, strict=True))
        if first.is_known and second.is_known:
            return known(self, x)  # type: ignore[arg-type]
        moved = np.where(mask, first.probes(len(shape)), second.probes(len(shape)))
        return self._moved_to(x, R, A, np.broadcast_to(moved, (len(moved), *shape)), first, second)

    def _moved_to(self, x: Reals, R: Reals, A: Reals, moved: Reals, *values: Cloud) -> Cloud:
        """The elements of several values at other places."""
        made = tabled(self, x, R, moved)  # type: ignore[arg-type]
        made.parts, made.count = (*made.parts[:3], A), max(one.count for one in values)
        made.grown = max(one.G for one in values) if made.count else 0.0
        return made

    def take(self, a: Cloud, index: Reals, axis: int = -1) -> Cloud:
        made = a.viewed(lambda part: np.take_along_axis(part, index, axis))
        assert isinstance(made, Cloud)
        return made

    def join(self, *values: Cloud, axis: int = -1) -> Cloud:
        parts = zip(*([np.broadcast_to(part, one.shape) for part in one.parts] for one in values), strict=True)
        x, R, _, A = (np.concatenate(part, axis=axis) for part in parts)
        if all(one.is_known for one in values):
            return known(self, x)  # type: ignore[arg-type]
        every = [one.probes(x.ndim) for one in values]
        count = max(map(len, every))
        every = [np.broadcast_to(one, (count, *one.shape[1:])) for one in every]
        return self._moved_to(x, R, A, np.concatenate(every, axis=axis), *values)

    def keep(self, a: Cloud, name: str) -> Cloud:
        """A value that may be kept in a narrower format errs by u of itself there."""
        narrow = self.claim.narrow_format(name)
        if narrow is None:
            return a
        form = FORMATS[narrow]
        if any_of(np.where(np.isfinite(a.x), a.size, 0.0) > form.max):
            raise OracleError("a value that may overflow has no bound by slopes")
        lift = 1.0 if a.terms is None else a.terms[1]
        made = self.step(a.x, [(1.0, a)], 0.0, lambda size: form.u * size + form.tiny * lift)
        made.terms, made.how = a.terms, ("kept", form)
        return made

    def places(self, a: Cloud, names: Reals | None = None) -> Cloud:
        """A place is no number that errs: its right answers are found by intervals."""
        return known(self, np.zeros((*a.shape[:-1], 1)))  # type: ignore[arg-type]


def share_of(rest: Any, perturbed: Reals) -> float:  # noqa: ANN401
    """The part of a step's perturbations that its slopes leave out."""
    most = float(np.sum(perturbed))
    return float(np.sum(np.broadcast_to(rest, perturbed.shape))) / most if most else 0.0


def sum_of(parts: Any) -> Any:  # noqa: ANN401  arrays that broadcast, or nothing
    made: Any = 0.0
    for part in parts:
        made = made + part
    return made


def is_power(x: Reals) -> bool:
    """Whether x is one power of two, by which every product is exact."""
    return not x.ndim and bool(np.frexp(abs(float(x)))[0] == 0.5)
