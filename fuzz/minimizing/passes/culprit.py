"""Keep only where the worst element lies: of a thousand rows mostly one is wrong."""

from kfuzz.minimizing.subject import Candidates, Subject

WORTH = 10


def candidates(subject: Subject) -> Candidates:
    """The one place, then it and the place before, then all up to it; dimension by dimension."""
    for axis, size in subject.axes.items():
        place = subject.worst.get(axis, size)
        if place >= size:
            continue
        for kept in ([place], [place - 1, place], list(range(place + 1))):
            if kept[0] >= 0 and len(kept) < subject.axes[axis]:
                candidate = subject.keep(axis, kept)
                if (yield candidate):
                    subject = candidate
                    break
