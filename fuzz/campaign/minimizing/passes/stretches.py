"""Make neighbours equal: an array of a few stretches, each of one value, shows what matters."""

from kfuzz.campaign.minimizing.subject import PATIENCE, Candidates, Subject, fill_range, widths_below
from kfuzz.cases.case import bits_in

WORTH = 60


def candidates(subject: Subject) -> Candidates:
    """Each stretch of each width as zero, or equal to the value before it."""
    for role, values in subject.literals().items():
        for width in widths_below(values.size):
            refused = 0
            for first in range(0, values.size, width):
                flat = bits_in(subject.literals()[role]).ravel()
                if refused >= PATIENCE or (width > 1 and (flat[first : first + width] == flat[first]).all()):
                    continue
                refused += 1
                for bits in dict.fromkeys((0, int(flat[first - 1]) if first else 0)):
                    candidate = subject.put(role, fill_range(subject.literals()[role], first, first + width, bits))
                    if (yield candidate):
                        subject, refused = candidate, 0
                        break
