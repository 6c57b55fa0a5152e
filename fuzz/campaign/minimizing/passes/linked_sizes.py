"""Make several dimensions smaller at once, if the claim's `where` links them."""

from kfuzz.campaign.minimizing.passes.edge_sizes import sizes_to_try
from kfuzz.campaign.minimizing.subject import Candidates, Subject

WORTH = 21


def candidates(subject: Subject) -> Candidates:
    """Each dimension at each edge size, and the others at the sizes that go with it, smallest first."""
    where = subject.kernel.where
    for axis, size in subject.axes.items() if where else ():
        for edge in sizes_to_try(subject, size):
            names = subject.own_names
            wanted = {names[other]: length for other, length in subject.axes.items()} | {names[axis]: edge}
            movable = (*(name for name in wanted if name != names[axis]), *subject.tune)
            sizes = where.near({**wanted, **subject.tune}, movable)
            if sizes is None or any(sizes[names[one]] > length for one, length in subject.axes.items()):
                continue
            candidate = subject
            for other, length in subject.axes.items():
                if sizes[names[other]] < length:
                    candidate = candidate.keep(other, range(sizes[names[other]]))
            if (yield candidate):
                subject = candidate
                break
