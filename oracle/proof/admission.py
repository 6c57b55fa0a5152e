"""The admission test: what an op's formula must show before kfuzz judges kernels by it.

mpmath and float64 must give the same exact answer; a shift that cancels must really cancel; simulated kernels of all
forms and orders must lie inside the enclosure, and zeros, NaN and a copy of the input outside. It knows no kernel.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.numbers.elements import BF16, F16, F32, Element, values
from kfuzz.oracle.numbers.enclosure import compare
from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.proof.hard_inputs import Inputs, inputs_for
from kfuzz.oracle.proof.simulations import CLAIMED, check
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

AGREE = 2.0**-30
"""How far float64 may be from mpmath, relative to the largest answer: more than rounding costs, less than a mistake."""


@dataclass(frozen=True)
class AdmissionCheck:
    """One line of the test: what it checks, whether that holds, and the figures."""

    name: str
    holds: bool
    figures: str

    def __str__(self) -> str:
        return f"{'ok    ' if self.holds else 'FAILED'} {self.name:44} {self.figures}"


def admit(op: Op) -> Iterator[AdmissionCheck]:
    """Run every check in turn."""
    yield _agreement(op)
    yield _numbers(op)
    yield from _invariance(op)
    for form in (F32, F16, BF16) if not op.gives_sets else ():
        yield _simulations(op, form)
    for wrong in ("zeros", "NaN", "the input copied"):
        yield from _broken(op, wrong)


def _inputs(op: Op, n: int, form: Element = F32) -> Inputs:
    made = inputs_for(op, n, 1, form is F16)
    return {k: op.store_input(k, a, form) for k, a in made.items()}


def _agreement(op: Op) -> AdmissionCheck:
    """Compare the answers of two number systems, which must agree before either counts as a reference."""
    inputs = {k: op.store_input(k, a, F32) for k, a in _small(op).items()}
    with np.errstate(all="ignore"):
        fast, slow = op.compute(inputs, {}), op.compute(inputs, {}, bits=200)
    worst = 0.0
    for name, exact in slow.items():
        other = fast[name]
        both = np.asarray(exact.astype(np.float64))
        size = np.max(np.abs(both), initial=0.0, where=np.isfinite(both))
        same = (both == other) | (np.isnan(both) & np.isnan(other))
        with np.errstate(invalid="ignore"):  # infinities that are the same
            off = np.where(same, 0.0, np.abs(both - other) / max(size, 1e-300))
        worst = max(worst, float(np.max(np.where(np.isnan(off), np.inf, off), initial=0.0)))
    return AdmissionCheck("mpmath and float64 agree", worst <= AGREE, f"to {worst:.1e} of the largest")


def _numbers(op: Op) -> AdmissionCheck:
    """Check that ordinary numbers give some finite answers: a formula that divides by 0 would judge nothing."""
    with np.errstate(all="ignore"):
        wanted = op.compute(_small(op), {})
    finite = {name: int(np.isfinite(answer).sum()) for name, answer in wanted.items()}
    figures = ", ".join(f"{finite[name]} of {answer.size} in {name}" for name, answer in wanted.items())
    return AdmissionCheck("answers are finite numbers", all(finite.values()), figures)


def _small(op: Op) -> Inputs:
    return op.random_inputs(op.small_sizes(5), np.random.default_rng(3))


class _Shifted(Exact):
    """The exact answer where every shift is one more than the maximum."""

    def shift(self, a: Quantity, axis: int = -1) -> Quantity:
        self.shifts = getattr(self, "shifts", 0) + 1
        return self.add(super().shift(a, axis), self.number(1.0))


def _invariance(op: Op) -> Iterator[AdmissionCheck]:
    """Check that another shift gives the same answer, for every form that has one (R10)."""
    inputs = _small(op)
    sizes = op.sizes_of(inputs)
    scalars = op.scalars_of(sizes, {})
    for form in op.every_form:
        N = _Shifted(sizes, form, index=Places(sizes))
        M = Exact(sizes, form, index=Places(sizes))
        with np.errstate(all="ignore"):
            other, own = op.run(N, inputs, sizes, scalars), op.run(M, inputs, sizes, scalars)
        if not getattr(N, "shifts", 0):
            continue
        off = max(float(np.nanmax(np.abs(other[k].x - own[k].x) / np.maximum(np.abs(own[k].x), 1e-9))) for k in own)
        yield AdmissionCheck(f"the shift cancels{f' in {form!r}' if form else ''}", off <= AGREE, f"to {off:.1e}")


def _simulations(op: Op, form: Element) -> AdmissionCheck:
    with np.errstate(all="ignore"):
        tally = check(op, form, quick=True)
    outside = tally.outside + tally.clashes
    tight = f", bound {np.median(tally.factors):.3g} x the error" if tally.factors else ""
    figures = f"{plural(tally.rows, 'row')}, {outside} outside{tight}"
    return AdmissionCheck(f"simulated kernels in {form.name} are inside", not outside, figures)


def _broken(op: Op, wrong: str) -> Iterator[AdmissionCheck]:
    """Check that a wrong answer is outside, for outputs of whose shape there is one."""
    caught = tried = 0
    for n in (3, 17):
        inputs = _inputs(op, n)
        for form in op.forms if op.needs_form else (None,):
            with np.errstate(all="ignore"):
                enclosures = enclose(op, inputs, Accuracy(form=form), CLAIMED)
            for enclosure in enclosures.values():
                got = _answer(op, wrong, inputs, enclosure.want.shape)
                if got is None or (wrong == "the input copied" and np.array_equal(got, enclosure.want)):
                    continue  # the right answer of a copy is its input
                tried += 1
                caught += bool(compare(got, enclosure).broken.any())
    if tried:
        verb = "is" if wrong == "the input copied" else "are"
        yield AdmissionCheck(f"{wrong} {verb} broken", caught == tried, f"{caught} of {tried}")


def _answer(op: Op, wrong: str, inputs: Inputs, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if wrong == "zeros":
        return np.zeros(shape)
    if wrong == "NaN":
        return np.full(shape, np.nan)
    like = [k for k, role in op.inputs.items() if role.is_float and inputs[k].shape == shape]
    return values(inputs[like[0]]) if like else None
