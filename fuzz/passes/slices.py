"""Cut slices out: a half, quarters, and at last single places, as long as what is left still fails."""

from fuzz.subject import Candidates, Subject, widths_below, without

WORTH = 30


def candidates(subject: Subject) -> Candidates:
    """Each dimension without each slice of each width, from its end to its beginning."""
    for axis in subject.axes:
        for width in widths_below(subject.axes[axis]):
            first = subject.axes[axis] - width
            while first >= 0:
                count = subject.axes[axis]
                candidate = subject.keep(axis, without(count, first, min(first + width, count)))
                if candidate.axes[axis] and (yield candidate):
                    subject = candidate
                first -= width
