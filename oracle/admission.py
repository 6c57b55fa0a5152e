"""The admission test: what an op's formula must show before it may judge anybody.

The exact answer by mpmath and by float64 agree; a shift that cancels really cancels; simulated kernels of all forms
and orders are inside the enclosure; zeros, NaN and a copy of the input are not. Knows formulas; never a kernel.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.elements import BF16, F16, F32, Element, store, values
from kfuzz.oracle.enclosure import compare
from kfuzz.oracle.op import Op
from kfuzz.oracle.question import enclose
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.selfcheck.formulas import CLAIMED, check
from kfuzz.oracle.selfcheck.inputs import Inputs, inputs_for
from kfuzz.oracle.shapes import Places
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

AGREE = 2.0**-30
"""How far float64 may be from mpmath, relative to the largest answer: more than rounding, less than any mistake."""


@dataclass(frozen=True)
class AdmissionCheck:
    """One line of the test: what was asked, whether it held, and the numbers."""

    name: str
    holds: bool
    found: str


def admit(op: Op) -> Iterator[AdmissionCheck]:
    """Every check in turn."""
    yield _agreement(op)
    yield _numbers(op)
    yield from _invariance(op)
    for form in (F32, F16, BF16) if op.answers is None else ():
        yield _simulations(op, form)
    for wrong in ("zeros", "NaN", "the input copied"):
        yield from _broken(op, wrong)


def _inputs(op: Op, n: int, form: Element = F32) -> Inputs:
    made = inputs_for(op, n, 1, form is F16)
    return {k: store(np.asarray(a, dtype="f8"), form) if op.inputs[k].is_float else a for k, a in made.items()}


def _agreement(op: Op) -> AdmissionCheck:
    """Two number systems must agree before a reference counts."""
    inputs = {k: a.astype(np.float32) if op.inputs[k].is_float else a for k, a in _small(op).items()}
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
    """Of ordinary numbers each answer is a number somewhere: a formula that divides by 0 would judge nothing."""
    with np.errstate(all="ignore"):
        wanted = op.compute(_small(op), {})
    finite = {name: int(np.isfinite(answer).sum()) for name, answer in wanted.items()}
    said = ", ".join(f"{finite[name]} of {answer.size} in {name}" for name, answer in wanted.items())
    return AdmissionCheck("answers are finite numbers", all(finite.values()), said)


def _small(op: Op) -> Inputs:
    return op.random_inputs(op.small_sizes(5), np.random.default_rng(3))


class _Shifted(Exact):
    """Every shift is one more than the maximum."""

    def shift(self, a: Quantity, axis: int = -1) -> Quantity:
        self.shifts = getattr(self, "shifts", 0) + 1
        return self.add(super().shift(a, axis), self.number(1.0))


def _invariance(op: Op) -> Iterator[AdmissionCheck]:
    """The answer is the same by another shift, for every form that has one (R10)."""
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
        found = check(op, form, quick=True)
    said = f"{found.rows} rows, {found.outside + found.clashes} outside"
    tight = f", bound {np.median(found.factors):.3g} x the error" if found.factors else ""
    return AdmissionCheck(
        f"simulated kernels in {form.name} are inside", not found.outside + found.clashes, said + tight
    )


def _broken(op: Op, wrong: str) -> Iterator[AdmissionCheck]:
    """A wrong answer is outside: unless it is right, as zeros are for an input of zeros, or does not fit the output."""
    caught = asked = 0
    for n in (3, 17):
        inputs = _inputs(op, n)
        with np.errstate(all="ignore"):
            enclosures = enclose(op, inputs, Accuracy(), CLAIMED)
        for enclosure in enclosures.values():
            got = _answer(op, wrong, inputs, enclosure.want.shape)
            if got is None:
                continue
            asked += 1
            caught += bool(compare(got, enclosure).broken.any())
    if asked:
        verb = "is" if wrong == "the input copied" else "are"
        yield AdmissionCheck(f"{wrong} {verb} broken", caught == asked, f"{caught} of {asked}")


def _answer(op: Op, wrong: str, inputs: Inputs, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if wrong == "zeros":
        return np.zeros(shape)
    if wrong == "NaN":
        return np.full(shape, np.nan)
    like = [k for k, role in op.inputs.items() if role.is_float and inputs[k].shape == shape]
    return values(inputs[like[0]]) if like else None
