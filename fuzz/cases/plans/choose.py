"""Choices, from which everything in a trial follows.

A `Choose` gives an integer between two bounds, both included; a lower one is simpler. In Hypothesis it is a draw, in
a campaign it follows from the seed. It does not know what is chosen.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import TypeVar

from kfuzz.cases.recipe import MAX_SEED, mix

Choose = Callable[[int, int], int]
T = TypeVar("T")


def seeded_choices(seed: int) -> Choose:
    """Choices that are a function of the seed alone, on every machine."""
    step = 0

    def choose(lo: int, hi: int) -> int:
        nonlocal step
        step += 1
        return lo + mix(seed, step) % (hi - lo + 1)

    return choose


def seed_of(*parts: int | str) -> int:
    """One seed from several numbers and names; different parts give different choices."""
    seed = _seed_of_names(parts[:2])  # the same for every trial of a kernel
    for part in parts[2:]:
        seed = _mix_in(seed, part)
    return seed


@lru_cache(maxsize=256)
def _seed_of_names(parts: tuple[int | str, ...]) -> int:
    return reduce(_mix_in, parts, 0)


def _mix_in(seed: int, part: int | str) -> int:
    for number in part.encode() if isinstance(part, str) else (part & MAX_SEED, part >> 64):
        seed = mix(seed ^ (number & MAX_SEED), 0)
    return mix(seed, 1)


def one_of(choose: Choose, items: Sequence[T]) -> T:
    """One of the items; the first is the simplest."""
    return items[choose(0, len(items) - 1)]


def once_in(choose: Choose, times: int) -> bool:
    """True about once in so many times; False is simpler."""
    return choose(0, times - 1) == times - 1
