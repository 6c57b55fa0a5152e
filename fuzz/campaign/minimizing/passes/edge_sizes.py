"""Jump to the smallest size at an edge: few elements, or one around a warp, a vector, a block."""

from kfuzz.campaign.minimizing.subject import Candidates, Subject
from kfuzz.cases.plans.edges import SMALL, VECTOR, WARP

WORTH = 20


def candidates(subject: Subject) -> Candidates:
    """Each dimension at each edge size below its own, smallest first: its beginning, then its end.

    A dimension of listed sizes cannot be cut place by place, so each part between the two is tried as well.
    """
    for axis, size in subject.axes.items():
        for edge in sizes_to_try(subject, size):
            parts, step = [range(edge)], max(1, edge // 2)
            if subject.literals():
                between = range(step, size - edge, step) if edge in subject.listed(axis) else ()
                parts += [range(first, first + edge) for first in (*between, size - edge)]
            failing = None
            for part in parts:
                candidate = subject.keep(axis, part)
                if failing is None and (yield candidate):
                    failing = candidate
            if failing is not None:
                subject = failing
                break


def sizes_to_try(subject: Subject, size: int) -> list[int]:
    """The sizes to try first, smallest first; halves of the size and powers of two below it are among them."""
    widths = {VECTOR, WARP, *subject.tune.values(), *(VECTOR * value for value in subject.tune.values())}
    around = {width + step for width in widths for step in (-1, 0, 1)}
    powers = {(1 << size.bit_length() >> shift) + step for shift in (1, 2) for step in (-1, 0, 1)}
    halves = {*powers, *(size >> shift for shift in range(1, 8))}
    steps = {axis.multiple for axis in subject.kernel.axes.values()}
    listed = {size for axis in subject.kernel.axes.values() for size in axis.listed}
    return sorted(edge for edge in {*SMALL, *around, *halves, *steps, *listed} if 0 < edge < size)
