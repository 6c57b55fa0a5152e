"""Answers that only a fragile form explains, and that err far more than a stable form may: docs/numerics.md#inaccurate.

Knows forms and enclosures. A form that the claim names is not accused, and neither is a kernel of a stable form.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.figures import unit_of
from kfuzz.oracle.numbers.elements import Element
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Index, Mask, compare, is_outside
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.op.names import forms_that_keep
from kfuzz.oracle.op.op import Op

FARTHER = 1000
"""An answer is inaccurate if it errs more than this many times as far as the tightest stable form may: three digits
are lost."""
SHOWN = 0.05
"""Fewer digits than this are none."""
MOST_CERTIFIED = 8
"""The most elements that balls are asked about: they decide nearly always at the first, and a slice has thousands."""


@dataclass(frozen=True)
class FarElements:
    """The elements of one output that are inaccurate: the worst, and the enclosure of the form that is tightest there.

    `reach`: how far that form may err there. `times`: how many times as far the answer errs; infinite for NaN and
    infinities.
    """

    mask: Mask
    worst: Index
    enclosure: Enclosure
    form: str
    reach: float
    times: float


def claims_of_stable_forms(op: Op, accuracy: Accuracy) -> Iterator[Accuracy]:
    """The claim with each form that is not fragile; nothing if all of its forms are, or none."""
    forms = forms_that_keep(op, accuracy.rounds, op.forms_of(accuracy.form))
    if not {*op.fragile_forms}.isdisjoint(forms):
        yield from (replace(accuracy, form=form) for form in forms if form not in op.fragile_forms)


def find_far_elements(
    got: Doubles, stable: Iterator[tuple[str, Enclosure]], element: Element | None
) -> FarElements | None:
    """What lies outside every stable form, as balls certify, and far outside the tightest; None if nothing does.

    Only elements whose exact answer is a number count. `stable`: the forms in turn, each with its enclosure, which is
    worked out only while something may be found.
    """
    if element is None or not element.is_float or element.is_narrow:
        return None
    tried: list[tuple[str, Enclosure]] = []
    reaches: list[Doubles] = []
    found = np.ones(got.shape, dtype=np.bool_)
    times = np.zeros(got.shape)
    for form, enclosure in stable:
        if enclosure.bits or enclosure.holds is not None:
            return None
        tried.append((form, enclosure))
        reaches.append(_reach(enclosure, element))
        with np.errstate(all="ignore"):
            times = np.fmax(times, np.abs(got - enclosure.want) / reaches[-1])
        times = np.where(np.isfinite(got), times, np.inf)
        found = found & compare(got, enclosure).broken & np.isfinite(enclosure.want)
        if not any_of(found & (times > FARTHER)):
            return None
    return _certified(got, tried, reaches, found & (times > FARTHER), times) if tried else None


def describe_loss(got: Doubles, far: FarElements) -> str:
    """How far this answer and the stable form err, and how many digits of the row's largest number are lost."""
    want, index = far.enclosure.want, far.worst
    off = abs(float(got[index]) - float(want[index]))
    row = np.abs(want[index[:-1]])
    size = float(np.max(row, where=np.isfinite(row), initial=abs(float(want[index]))))
    keeps, has = _digits(far.reach, size), _digits(off, size)
    errs = f"errs by {off:.3g}" if np.isfinite(off) else "is no number"
    lost = "all of its" if has < SHOWN else f"{keeps - has:.1f} of its"
    digits = f": {lost} {keeps:.1f} digits are lost" if keeps >= SHOWN else ""
    return f'this answer {errs}, where the form "{far.form}" errs by at most {far.reach:.3g}{digits}'


def _digits(off: float, size: float) -> float:
    """The decimal digits of a number of this size that an error leaves; 0 for NaN."""
    return float(np.log10(size / off)) if off < size else 0.0


def _reach(enclosure: Enclosure, element: Element) -> Doubles:
    """How far a kernel of this form may err: a unit in the last place at least."""
    with np.errstate(all="ignore"):
        bound = np.fmax(enclosure.hi - enclosure.want, enclosure.want - enclosure.lo)
    return np.fmax(bound, unit_of(enclosure.want, element))


def _certified(
    got: Doubles, tried: Sequence[tuple[str, Enclosure]], reaches: Sequence[Doubles], mask: Mask, times: Doubles
) -> FarElements | None:
    """The element furthest out of those that balls find outside of every form."""
    places = np.flatnonzero(mask)
    for place in places[np.argsort(-times.reshape(-1)[places], kind="stable")][:MOST_CERTIFIED]:
        index = tuple(int(i) for i in np.unravel_index(place, got.shape))
        if all(is_outside(float(got[index]), index, enclosure) for _, enclosure in tried):
            tightest = int(np.argmin([one[index] for one in reaches]))
            form, enclosure = tried[tightest]
            return FarElements(mask, index, enclosure, form, float(reaches[tightest][index]), float(times[index]))
    return None
