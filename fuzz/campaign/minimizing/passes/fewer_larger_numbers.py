"""Half as many numbers, each the largest of its type: what a long sum of ones loses, a short sum of these loses too."""

import numpy as np

from kfuzz.campaign.minimizing.subject import Candidates, Content, Subject, fill_range, simplest_values
from kfuzz.cases.case import element_in
from kfuzz.cases.recipe import Band, Base, Recipe, bits_of
from kfuzz.oracle.numbers.elements import element_of

WORTH = 25
MANY = 64
"""Shorter dimensions are cut place by place."""


def candidates(subject: Subject) -> Candidates:
    """Each long dimension halved, as often as that fails; one array of one value of a narrow type gets the largest."""
    for axis in subject.axes:
        for role in subject.sources:
            while is_one_narrow_value(subject.sources[role]):
                half = subject.axes[axis] // 2 // subject.step(axis) * subject.step(axis)
                if half < MANY // 2:
                    break
                shorter = subject.keep(axis, range(half))
                candidate = shorter.put(role, at_its_largest(shorter.sources[role]))
                if not (yield candidate):
                    break
                subject = candidate


def at_its_largest(source: Content) -> Content:
    """An array of the same shape with the largest number of its type throughout."""
    if isinstance(source, Recipe):
        base = Base("constant", bits_of(float(element_of(source.element).max)))
        return Recipe(source.rows, source.cols, (Band(base),), element=source.element)
    return fill_range(source, 0, source.size, simplest_values(element_in(source))[-1])


def is_one_narrow_value(source: Content) -> bool:
    """Whether all elements of an array of at most 8 bits each are alike."""
    if isinstance(source, Recipe):
        (first, *others) = source.bands
        return element_of(source.element).is_narrow and not (others or first.edits) and first.base.kind == "constant"
    return element_in(source).is_narrow and np.unique(source).size == 1
