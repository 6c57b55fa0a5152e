"""Keep only the place of the worst element: of a thousand rows mostly one is wrong."""

from kfuzz.campaign.minimizing.subject import Candidates, Subject

WORTH = 10


def candidates(subject: Subject) -> Candidates:
    """That place alone, then with the place before it, then with all before it; dimension by dimension."""
    for axis, size in subject.axes.items():
        place = subject.worst.get(axis, size)
        if place >= size:
            continue
        for places in ([place], [place - 1, place], list(range(place + 1))):
            if places[0] >= 0 and len(places) < subject.axes[axis]:
                candidate = subject.keep(axis, places)
                if (yield candidate):
                    subject = candidate
                    break
