"""A wrong answer of a formula explained by one wrong step: the formula with that step changed gives the same answer.

Every step of a formula is changed in the ways in which people get it wrong, one at a time, in float64: a term or a
factor left out or used twice, n - 1 for n, eps outside the root, a mask that is off by one. A change explains an answer
if, in all of its wrong rows, the answer is as near to the changed formula as a right one is to the formula itself, and
if no other change does as well. This module knows no op.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kfuzz.oracle.numbers.elements import Reals, values
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Mask
from kfuzz.oracle.numbers.label import Diagnosis
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.systems.axes import count_along
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Axes, Filler, Operand, Pads, PerAxis, Quantity

MOST_ELEMENTS = 1 << 15
"""The most elements of an answer to explain: a larger one is minimized first."""
LEAST_ELEMENTS = 2
"""The fewest wrong elements to explain: almost any change would fit a single one."""
FITS = 0.9
"""The part of the elements of wrong rows that must fit: others may have an error of their own, or none."""
ROOM = 2.0
"""How many widths of the interval an answer may be off a changed formula: three times as many as off the right one."""

WrongStep = Callable[[], Any]


class StepChange(NamedTuple):
    """The wrong step and its change, each by its number."""

    step: int
    way: int


class WrongSystem(Exact):
    """The formula in float64 with one step changed; with none changed, it lists all possible changes."""

    def __init__(
        self, sizes: Mapping[str, int], form: str, index: Mapping[str, Reals], changed: StepChange | None
    ) -> None:
        super().__init__(sizes, form, index=index)
        self.changed, self.count, self.is_inside = changed, 0, False
        self.names: dict[int, str] = {}
        self.offered: dict[StepChange, str] = {}
        self.sums_of: dict[int, tuple[Quantity, Quantity]] = {}
        self.alive: list[Quantity] = []
        """Every value, kept alive so that each has an identity of its own."""

    def value(self, x: Reals, *how: Any) -> Quantity:  # noqa: ANN401  as in the base class
        made = super().value(x, *how)
        self.alive.append(made)
        return made

    def name(self, a: Quantity, otherwise: str) -> str:
        return self.names.get(id(a), otherwise)

    def step(self, right: WrongStep, changes: list[tuple[str, WrongStep]]) -> Any:  # noqa: ANN401  a value, or a pair of them
        """A step of the formula itself, not one inside another step."""
        if self.is_inside:
            return right()
        self.is_inside = True
        number, self.count = self.count, self.count + 1
        for way, (words, _) in enumerate(changes):
            self.offered[StepChange(number, way)] = words
        is_here = self.changed is not None and self.changed.step == number
        made = changes[self.changed.way][1]() if is_here and self.changed else right()
        self.is_inside = False
        return made

    def add(self, a: Quantity, b: Quantity) -> Quantity:
        made: Quantity = self.step(
            lambda: super(WrongSystem, self).add(a, b),
            [
                (f"{self.name(b, 'a term')} left out", lambda: self._spread(a, b)),
                (f"{self.name(a, 'a term')} left out", lambda: self._spread(b, a)),
                ("a sign", lambda: super(WrongSystem, self).sub(a, b)),
            ],
        )
        self.sums_of[id(made)] = (a, b)
        return made

    def sub(self, a: Quantity, b: Quantity) -> Quantity:
        left_out = f"{self.name(b, 'what is subtracted')} left out"
        changes = [(left_out, lambda: self._spread(a, b)), ("a sign", lambda: super(WrongSystem, self).add(a, b))]
        made: Quantity = self.step(lambda: super(WrongSystem, self).sub(a, b), changes)
        return made

    def mul(self, a: Quantity, b: Quantity) -> Quantity:
        changes = [*self._of_factor(a, b), *self._of_factor(b, a)]
        made: Quantity = self.step(lambda: super(WrongSystem, self).mul(a, b), changes)
        return made

    def _of_factor(self, one: Quantity, other: Quantity) -> list[tuple[str, WrongStep]]:
        word = self.name(one, "a factor")
        return [
            (f"{word} left out", lambda: self._spread(other, one)),
            (f"{word} twice", lambda: self.value(one.x * other.x * one.x)),
        ]

    def div(self, a: Quantity, b: Quantity) -> Quantity:
        changes = [("not divided", lambda: self._spread(a, b)), ("divided twice", lambda: self.value(a.x / b.x / b.x))]
        made: Quantity = self.step(lambda: super(WrongSystem, self).div(a, b), changes)
        return made

    def rsqrt(self, a: Quantity) -> Quantity:
        changes: list[tuple[str, WrongStep]] = [
            ("the root where its inverse belongs", lambda: self.value(np.sqrt(a.x)))
        ]
        if id(a) in self.sums_of:
            inner, outer = self.sums_of[id(a)]
            words = f"{self.name(outer, 'a term')} outside the root"
            changes.append((words, lambda: self.value(1 / (np.sqrt(inner.x) + outer.x))))
        made: Quantity = self.step(lambda: super(WrongSystem, self).rsqrt(a), changes)
        return made

    def where(self, mask: Reals, a: Operand, b: Operand) -> Quantity:
        def by(other: Reals) -> Quantity:
            return super(WrongSystem, self).where(other, a, b)

        mask = np.atleast_1d(np.asarray(mask, dtype=np.bool_))
        one_more = mask | np.concatenate([np.ones_like(mask[..., :1]), mask[..., :-1]], axis=-1)
        one_less = mask & np.concatenate([mask[..., 1:], np.zeros_like(mask[..., :1])], axis=-1)
        made: Quantity = self.step(
            lambda: by(mask),
            [
                ("mask off by one: one too many", lambda: by(one_more)),
                ("mask off by one: one too few", lambda: by(one_less)),
                ("mask left out", lambda: by(np.ones_like(mask))),
            ],
        )
        return made

    def take(self, a: Quantity, index: Reals, axis: int = -1) -> Quantity:
        n = a.x.shape[axis]

        def by(other: Reals) -> Quantity:
            return super(WrongSystem, self).take(a, other, axis)

        changes: list[tuple[str, WrongStep]] = [
            ("index off by one", lambda: by((index + 1) % n)),
            ("index off by one", lambda: by((index - 1) % n)),
            ("the index of the row before", lambda: by(np.roll(index, 1, 0))),
            ("an index of 8 bits", lambda: by(index % 256 % n)),
        ]
        made: Quantity = self.step(lambda: by(index), changes)
        return made

    def mean(self, a: Quantity, sum: str = "mean", axis: Axes = -1) -> Quantity:
        n = count_along(a.x.shape, axis)
        total = np.add.reduce(a.x, axis=axis, keepdims=True)
        made: Quantity = self.step(
            lambda: super(WrongSystem, self).mean(a, sum, axis),
            [("n - 1 for n", lambda: self.value(total / (n - 1))), ("not divided by n", lambda: self.value(total))],
        )
        return made

    def mean_var(
        self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0, axis: Axes = -1
    ) -> tuple[Quantity, Quantity]:
        def with_square(square: Callable[[Reals, Reals, int], Reals]) -> tuple[Quantity, Quantity]:
            n = count_along(x.x.shape, axis)
            mean = np.add.reduce(x.x, axis=axis, keepdims=True) / n
            return self.value(mean), self.value(square(x.x, mean, n))

        def squares(x: Reals, mean: Reals) -> Reals:
            return np.asarray(np.add.reduce((x - mean) ** 2, axis=axis, keepdims=True))

        made: tuple[Quantity, Quantity] = self.step(
            lambda: super(WrongSystem, self).mean_var(x, sums, correction, axis),
            [
                ("n - 1 for n", lambda: with_square(lambda x, mean, n: squares(x, mean) / (n - 1 - correction))),
                ("the mean left in the variance", lambda: with_square(lambda x, mean, n: squares(x, 0 * mean) / n)),
                ("the variance not divided by n", lambda: with_square(lambda x, mean, n: squares(x, mean))),
                ("the deviation where the variance belongs",
                 lambda: with_square(lambda x, mean, n: np.sqrt(squares(x, mean) / n))),
            ],
        )  # fmt: skip
        self.names |= {id(made[0]): "the mean", id(made[1]): "the variance"}
        return made

    def running_sum(self, a: Quantity, sum: str = "scan", exclusive: bool = False) -> Quantity:
        words = "inclusive where exclusive belongs" if exclusive else "exclusive where inclusive belongs"
        made: Quantity = self.step(
            lambda: super(WrongSystem, self).running_sum(a, sum, exclusive),
            [(words, lambda: super(WrongSystem, self).running_sum(a, sum, not exclusive))],
        )
        return made

    def windows(
        self, a: Quantity, size: PerAxis, stride: PerAxis = 1, pad: int | Pads = 0,
        dilation: PerAxis = 1, fill: Filler = 0.0,
    ) -> Quantity:  # fmt: skip
        count = 1 if isinstance(size, int) else len(size)
        pads = [
            (one, one) if isinstance(one, int) else one for one in ((pad,) * count if isinstance(pad, int) else pad)
        ]

        def by(moved: int, axis: int, fill: Filler = fill) -> Quantity:
            other = [(a + moved * (axis == i), b - moved * (axis == i)) for i, (a, b) in enumerate(pads)]
            return super(WrongSystem, self).windows(a, size, stride, other, dilation, fill)

        changes: list[tuple[str, WrongStep]] = [
            (f"windows that begin one place too {word}", partial(by, moved, axis))
            for axis in range(count)
            for word, moved in (("early", 1), ("late", -1))
        ]
        if fill == -np.inf and any(map(any, pads)):
            changes.append(("0 beyond the ends, where -inf belongs", lambda: by(0, 0, 0.0)))
        made: Quantity = self.step(lambda: by(0, 0), changes)
        return made

    def _spread(self, a: Quantity, over: Quantity) -> Quantity:
        """a, in the shape of the step's result."""
        return self.value(np.broadcast_to(a.x, np.broadcast_shapes(a.x.shape, over.x.shape)))

    # -- one step each, even if they consist of several

    def sigmoid(self, a: Quantity) -> Quantity:
        made: Quantity = self.step(lambda: super(WrongSystem, self).sigmoid(a), [])
        return made

    def dot(self, a: Quantity, b: Quantity, sum: str = "dot", axis: Axes = -1) -> Quantity:
        made: Quantity = self.step(lambda: super(WrongSystem, self).dot(a, b, sum, axis), [])
        return made

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        changes = [("not divided by the sum", lambda: super(WrongSystem, self).matmul(e, v))]
        made: Quantity = self.step(lambda: super(WrongSystem, self).average(e, v, sums), changes)
        return made


class WrongAnswer(NamedTuple):
    """An answer and the right one, with the ends of its interval. `wrong`: the elements outside."""

    got: Doubles
    want: Doubles
    lo: Doubles
    hi: Doubles
    judged: Mask
    wrong: Mask


def explain(
    op: Op, inputs: Mapping[str, Any], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask
) -> Diagnosis | None:
    """The one change that gives this answer; None if there is none, or if several do."""
    if got.size > MOST_ELEMENTS:
        return None
    with np.errstate(all="ignore"):
        right, offered = _evaluate(op, inputs, output, got.shape, None)
    answer = WrongAnswer(got, enclosure.want, enclosure.lo, enclosure.hi, enclosure.judged, wrong)
    words = fitting(answer, right, offered, lambda changed: _evaluate(op, inputs, output, got.shape, changed)[0])
    if len(words) != 1:
        return None
    return Diagnosis(words[0], f"the answer is that of {op.name} with this one step wrong")


def fitting(
    answer: WrongAnswer, right: Doubles, offered: Mapping[StepChange, str],
    evaluate: Callable[[StepChange], Doubles | None],
) -> list[str]:  # fmt: skip
    """The changes that give this answer, in words; none if the right answer is not that of no change."""
    got, want, lo, hi, judged, wrong = answer
    row_is_wrong = np.broadcast_to(wrong.any(axis=-1, keepdims=True), wrong.shape) if wrong.ndim > 1 else wrong
    with np.errstate(all="ignore"):
        width = np.maximum(hi - lo, np.spacing(np.abs(want).astype(np.float32)))
        asked = judged & row_is_wrong & (np.isfinite(width) | np.isnan(want))
        if asked.sum() < LEAST_ELEMENTS or np.isfinite(got[asked]).mean() < FITS:
            return []
        if not _is_near(right, want, want, width, asked):  # scalars of the claim's own
            return []
        return list(dict.fromkeys(
            words
            for changed, words in offered.items()
            if (made := evaluate(changed)) is not None and made.shape == got.shape
            and _explains(made, got, want, width, asked, wrong)
        ))  # fmt: skip


def _explains(made: Doubles, got: Doubles, want: Doubles, width: Doubles, asked: Mask, wrong: Mask) -> bool:
    """Whether the changed formula gives the kernel's answer wherever it differs from the right formula."""
    return bool((_is_off(made, want, width) & asked & wrong).any()) and _is_near(got, made, want, width, asked)


def _evaluate(
    op: Op, inputs: Mapping[str, Any], output: str, shape: tuple[int, ...], changed: StepChange | None
) -> tuple[Doubles, dict[StepChange, str]]:
    """The output with one step changed, and every possible change."""
    sizes = op.sizes_of(inputs)
    N = WrongSystem(sizes, op.forms[0] if op.forms else "", Places(sizes), changed)
    given = {name: N.input(values(inputs[name])) if role.is_float else inputs[name] for name, role in op.inputs.items()}
    numbers = {name: N.number(value) for name, value in op.scalars_of(sizes, {}).items()}
    N.names = {id(value): name for name, value in {**given, **numbers}.items() if isinstance(value, Quantity)}
    made = op.formula(N, **given, **numbers)
    value = made[output] if isinstance(made, Mapping) else made
    x = value.x.reshape(shape) if value.x.size == np.prod(shape) else np.broadcast_to(value.x, shape)
    return np.asarray(x, dtype=np.float64), N.offered


def _room(made: Doubles, want: Doubles, width: Doubles) -> Doubles:
    """How far a right kernel of the changed formula may be off: as far as for the right one, scaled to its size."""
    larger = np.where(want != 0, np.abs(made) / np.abs(want), 1.0)
    return np.asarray(ROOM * width * np.maximum(np.where(np.isfinite(larger), larger, 1.0), 1.0))


def _is_near(got: Doubles, made: Doubles, want: Doubles, width: Doubles, asked: Mask) -> bool:
    near = (np.abs(got - made) <= _room(made, want, width)) | (got == made) | (np.isnan(got) & np.isnan(made))
    return bool(near[asked].mean() >= FITS)


def _is_off(made: Doubles, want: Doubles, width: Doubles) -> Mask:
    off = np.abs(made - want) > 3 * ROOM * np.where(np.isnan(width), 0.0, width)
    return np.asarray(off | (np.isnan(made) != np.isnan(want)), dtype=np.bool_)
