"""One value throughout: all slices of zeros are alike, and a case that fails for zeros fails because of its size."""

from kfuzz.campaign.minimizing.subject import Candidates, Content, Subject, fill_range, simplest_values
from kfuzz.cases.case import element_in
from kfuzz.cases.case_reader import MAX_LITERAL
from kfuzz.cases.recipe import Band, Base, Recipe
from kfuzz.oracle.numbers.elements import F32

WORTH = 5


def candidates(subject: Subject) -> Candidates:
    """All arrays of zeros, of ones, of -inf; then each by itself."""
    for roles in (list(subject.sources), *([role] for role in subject.sources)):
        for which in range(len(simplest_values(F32))):
            candidate = subject
            for role in roles:
                candidate = candidate.put(role, fill_with(subject.sources[role], which))
            if (yield candidate):
                subject = candidate
                break


def fill_with(source: Content, which: int) -> Content:
    """An array of the same shape with one of the simplest values."""
    if isinstance(source, Recipe):
        base = Base("constant", simplest_values(F32)[which])
        return Recipe(source.rows, source.cols, (Band(base),), element=source.element)
    simplest = simplest_values(element_in(source))
    bits = simplest[min(which, len(simplest) - 1)]
    return fill_range(source, 0, source.size, bits) if source.size <= MAX_LITERAL else source
