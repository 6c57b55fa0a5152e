"""Make neighbours equal: an array of a few stretches, each of one value, shows what matters."""

from fuzz.case import Values
from fuzz.subject import NEG_INF, ONE, Candidates, Subject, widths_below

WORTH = 60


def candidates(subject: Subject) -> Candidates:
    """Each array of one value throughout; then each stretch of each width as zero, or as what stands before it."""
    for role in subject.literals():
        values = subject.literals()[role]
        for bits in (0, ONE, NEG_INF):
            if (yield subject.put(role, filled(values, 0, values.size, bits))):
                subject = subject.put(role, filled(values, 0, values.size, bits))
                break
        for width in widths_below(values.size):
            for first in range(0, values.size, width):
                flat = subject.literals()[role].view("uint32").ravel()
                if width > 1 and (flat[first : first + width] == flat[first]).all():
                    continue
                before = int(flat[first - 1]) if first else 0
                for bits in dict.fromkeys((0, before)):
                    candidate = subject.put(role, filled(subject.literals()[role], first, first + width, bits))
                    if (yield candidate):
                        subject = candidate
                        break


def filled(values: Values, first: int, last: int, bits: int) -> Values:
    """The array with its elements first .. last - 1, in memory order, of these bits."""
    changed = values.copy()
    changed.view("uint32").reshape(-1)[first:last] = bits
    return changed
