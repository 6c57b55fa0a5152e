"""Cut slices out: a half, quarters, and at last single places, as long as the rest still fails.

Where sizes are multiples of a number, a slice is a multiple of it as well.
"""

from collections.abc import Generator

from kfuzz.campaign.minimizing.subject import PATIENCE, Candidates, Subject, places_without, widths_below

WORTH = 30


def candidates(subject: Subject) -> Candidates:
    """Each dimension without each slice of each width, from its end to its beginning."""
    for axis in subject.axes:
        if subject.recipes():
            subject = yield from cut_recipe(subject, axis)
            continue
        step = subject.step(axis)
        for width in (step * steps for steps in widths_below(subject.axes[axis] // step)):
            first, refused = subject.axes[axis] - width, 0
            while first >= 0 and refused < PATIENCE:
                count = subject.axes[axis]
                candidate = subject.keep(axis, places_without(count, first, min(first + width, count)))
                if candidate.axes[axis] and (yield candidate):
                    subject, refused = candidate, 0
                else:
                    refused += 1
                first -= width


def cut_recipe(subject: Subject, axis: str) -> Generator[Subject, bool, Subject]:
    """The subject with a recipe's dimension cut at its end, since its rows and columns are alike.

    Its arrays are long and its runs slow: if it does not fail without a few places, this tries no more.
    """
    step, size = subject.step(axis), subject.axes[axis]
    few = range(step, 6 * step, step)
    for width in (*few, *(step * steps for steps in widths_below(size // step))):
        if width not in few and subject.axes[axis] == size:
            break
        while width < subject.axes[axis]:
            candidate = subject.keep(axis, range(subject.axes[axis] - width))
            if not (yield candidate):
                break
            subject = candidate
    return subject
