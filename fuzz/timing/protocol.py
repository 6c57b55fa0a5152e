"""How times are taken: buffers in rotation, graphs that last, rounds in turns. The card itself is behind `Clock`.

Why each number is what it is stands in docs/bench.md. Knows nothing of kernels, drivers or what figures mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from kfuzz.timing.figures import Recording

CACHES = 8
"""Buffers of so many second-level caches are gone through before one comes again: warm caches flatter by a half."""
LEAST_GRAPH = 1.5e-3
"""Seconds that one replay lasts at least: replays of that length agree to 0.2 %, and an event counts 0.5 us."""
MOST_NODES = 4096
WARM_UPS, ROUNDS, REPLAYS = 2, 5, 6
ROUGHLY = 1.1
"""An estimate is of a short graph, three times: launches that are so near to the fastest are timed in turns."""


class LaunchGraph(Protocol):
    """Launches that are replayed together, without the host."""

    def replay(self) -> None: ...


class Clock(Protocol):
    """What takes the time of a replay, in seconds, and lets nothing of what went before stay in the cache."""

    def seconds(self, graph: LaunchGraph) -> float: ...
    def clear_cache(self) -> None: ...


@dataclass(frozen=True)
class Contestant:
    """What is timed: `graph(n)` is a graph of n launches, each on the next buffers of the rotation."""

    name: str
    graph: Callable[[int], LaunchGraph]
    tune: tuple[tuple[str, int], ...] = ()


def rotation_of(bytes_of_one: int, cache: int) -> int:
    """How many sets of buffers there are."""
    return max(2, ceil(CACHES * cache / max(bytes_of_one, 1)))


def launches_of(seconds_of_one: float, sets: int) -> int:
    """How many launches a graph has: whole rotations, for so long a time, and no more than a graph takes well."""
    wanted = ceil(LEAST_GRAPH / max(seconds_of_one, 1e-7))
    rotations = max(1, min(ceil(wanted / sets), MOST_NODES // sets))
    return rotations * sets


def estimate(contestant: Contestant, clock: Clock, sets: int) -> float:
    """Roughly the seconds of one launch: the better of two replays of a rotation, after one that warms up."""
    graph = contestant.graph(sets)
    return min(clock.seconds(graph) for _ in range(3)) / sets


def find_fastest(contestants: Sequence[Contestant], clock: Clock, sets: int) -> Contestant:
    """Of one kernel's launches the one that is fastest; by an estimate, where one is so by far."""
    if len(contestants) == 1:  # not even an estimate is needed
        return contestants[0]
    seconds = [estimate(one, clock, sets) for one in contestants]
    near = [one for one, taken in zip(contestants, seconds, strict=True) if taken <= ROUGHLY * min(seconds)]
    if len(near) == 1:
        return near[0]
    return min(zip(near, time_in_turns(near, clock, sets), strict=True), key=lambda pair: pair[1].median)[0]


def time_in_turns(contestants: Sequence[Contestant], clock: Clock, sets: int) -> tuple[Recording, ...]:
    """Times of all contestants in turns, so that what the card does meanwhile is done to all of them."""
    counts = [launches_of(estimate(one, clock, sets), sets) for one in contestants]
    graphs = [one.graph(count) for one, count in zip(contestants, counts, strict=True)]
    for graph in graphs:
        for _ in range(WARM_UPS):
            clock.seconds(graph)
    seconds: list[list[float]] = [[] for _ in contestants]
    for turn in range(ROUNDS):
        for step in range(len(contestants)):
            which = (turn + step) % len(contestants)
            clock.clear_cache()
            seconds[which] += [clock.seconds(graphs[which]) / counts[which] for _ in range(REPLAYS)]
    return tuple(Recording(one.name, tuple(taken), one.tune) for one, taken in zip(contestants, seconds, strict=True))
