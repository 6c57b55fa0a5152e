"""The exact confidence interval of a share, by Clopper and Pearson."""

import math
from collections.abc import Callable

LEVEL = 0.95
STEPS = 60
"""Of a bisection: the ends have all digits of a double."""


def interval(hits: int, of: int, level: float = LEVEL) -> tuple[float, float]:
    """The shares for which neither so many hits nor more, nor so many nor fewer, are rarer than half of the rest."""
    rest = (1 - level) / 2
    low = 0.0 if hits == 0 else bisect(lambda share: at_most(hits - 1, of, share) > 1 - rest)
    high = 1.0 if hits == of else bisect(lambda share: at_most(hits, of, share) > rest)
    return low, high


def at_most(hits: int, of: int, share: float) -> float:
    """The chance of so many hits or fewer."""
    if not 0 < share < 1:
        return float(share <= 0 or hits >= of)
    logs = (
        math.lgamma(of + 1) - math.lgamma(n + 1) - math.lgamma(of - n + 1)
        + n * math.log(share) + (of - n) * math.log1p(-share)
        for n in range(hits + 1)
    )  # fmt: skip
    return math.fsum(map(math.exp, logs))


def bisect(holds: Callable[[float], bool]) -> float:
    """The share up to which something holds."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def share_in_words(hits: int, of: int) -> str:
    """3 of 120, 2.5% (0.5% to 7.1%)."""
    if not of:
        return "0 of 0"
    low, high = interval(hits, of)
    return f"{hits} of {of}, {hits / of:.1%} ({low:.1%} to {high:.1%})"
