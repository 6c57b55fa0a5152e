"""Cut slices out: a half, quarters, and at last single places, as long as what is left still fails."""

from fuzz.subject import PATIENCE, Candidates, Subject, widths_below, without

WORTH = 30


def candidates(subject: Subject) -> Candidates:
    """Each dimension without each slice of each width, from its end to its beginning.

    Of a recipe, whose rows and columns are alike, the narrow ones are cut from the end alone.
    """
    for axis in subject.axes:
        for width in widths_below(subject.axes[axis]):
            first, refused = subject.axes[axis] - width, 0
            is_narrow = bool(subject.recipes()) and width * 16 < subject.axes[axis]
            while first >= 0 and refused < (1 if is_narrow else PATIENCE):
                count = subject.axes[axis]
                candidate = subject.keep(axis, without(count, first, min(first + width, count)))
                if candidate.axes[axis] and (yield candidate):
                    subject, refused = candidate, 0
                else:
                    refused += 1
                first -= width
