"""Between which values a fraction of a run lies, by the replays of that run: however busy the machine was."""

from kfuzz.measure.speed.figures import Heat, Recording


def range_of_fraction(heat: Heat, one: Recording) -> tuple[float, float]:
    """The lowest and the highest fraction that any replay of the kernel and any of the best copy give.

    Other work makes replays longer, those of the kernel and of the copies alike, since they are made in turns. So the
    undisturbed fraction is outside only if one of the two lost more time in its best replay than the other in its
    worst. If 30 and 30 replays are in a random order, the chance of that is 2 / C(60, 30), or 2 in 10^17.
    """
    fastest = min(min(copy.seconds) for copy in heat.copies)
    slowest = min(max(copy.seconds) for copy in heat.copies)
    return fastest / max(one.seconds), slowest / min(one.seconds)


def can_agree(first: Heat, second: Heat) -> bool:
    """Whether one fraction of the first kernel explains both runs."""
    low, high = range_of_fraction(first, first.kernels[0])
    other_low, other_high = range_of_fraction(second, second.kernels[0])
    return low <= other_high and other_low <= high
