"""One value throughout: all slices of zeros are alike, and a case that fails for zeros fails because of its size."""

from kfuzz.cases.case_reader import MAX_LITERAL
from kfuzz.cases.recipe import Band, Base, Recipe
from kfuzz.minimizing.subject import NEG_INF, ONE, Candidates, Content, Subject, fill_range

WORTH = 5


def candidates(subject: Subject) -> Candidates:
    """All arrays of zeros, of ones, of -inf; then each by itself."""
    for roles in (list(subject.sources), *([role] for role in subject.sources)):
        for bits in (0, ONE, NEG_INF):
            candidate = subject
            for role in roles:
                candidate = candidate.put(role, fill_with(subject.sources[role], bits))
            if (yield candidate):
                subject = candidate
                break


def fill_with(source: Content, bits: int) -> Content:
    """An array of the same shape with one value."""
    if isinstance(source, Recipe):
        return Recipe(source.rows, source.cols, (Band(Base("constant", bits)),))
    return fill_range(source, 0, source.size, bits) if source.size <= MAX_LITERAL else source
