"""How times are taken: buffers in rotation, graphs that last, rounds in turns. `Clock` hides the GPU itself.

docs/bench.md gives the reason for each number. Knows nothing of kernels, drivers or what figures mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from kfuzz.measure.speed.figures import Recording

CACHES = 8
"""The rotation covers this many second-level caches before a buffer comes again: warm caches flatter by a half."""
LEAST_GRAPH = 1.5e-3
"""Shortest replay in seconds: replays of this length agree to 0.2 %, and an event counts 0.5 us."""
MOST_NODES = 4096
WARM_UPS, ROUNDS, REPLAYS = 2, 5, 6
ROUGHLY = 1.1
"""An estimate times a short graph three times; launches within this factor of the fastest are timed in turns."""


class LaunchGraph(Protocol):
    """Launches that are replayed together, without the host."""

    def replay(self) -> None: ...


class Clock(Protocol):
    """A clock that times a replay in seconds, and that can clear earlier content from the cache."""

    def seconds(self, graph: LaunchGraph) -> float: ...
    def clear_cache(self) -> None: ...


@dataclass(frozen=True)
class Contestant:
    """A competitor in the timing: `graph(n)` is a graph of n launches, each on the next buffers of the rotation."""

    name: str
    graph: Callable[[int], LaunchGraph]
    tune: tuple[tuple[str, int], ...] = ()


def rotation_of(bytes_of_one: int, cache: int) -> int:
    """How many sets of buffers there are."""
    return max(2, ceil(CACHES * cache / max(bytes_of_one, 1)))


def launches_of(seconds_of_one: float, sets: int) -> int:
    """How many launches a graph has: whole rotations, long enough to time, and no more than a graph handles well."""
    wanted = ceil(LEAST_GRAPH / max(seconds_of_one, 1e-7))
    rotations = max(1, min(ceil(wanted / sets), MOST_NODES // sets))
    return rotations * sets


def estimate(contestant: Contestant, clock: Clock, sets: int) -> float:
    """Roughly the seconds of one launch: the better of two replays of a rotation, after one that warms up."""
    graph = contestant.graph(sets)
    return min(clock.seconds(graph) for _ in range(3)) / sets


def find_fastest(contestants: Sequence[Contestant], clock: Clock, sets: int) -> Contestant:
    """The fastest of one kernel's launches; an estimate suffices if one is fastest by far."""
    if len(contestants) == 1:  # not even an estimate is needed
        return contestants[0]
    seconds = [estimate(one, clock, sets) for one in contestants]
    near = [one for one, taken in zip(contestants, seconds, strict=True) if taken <= ROUGHLY * min(seconds)]
    if len(near) == 1:
        return near[0]
    return min(zip(near, time_in_turns(near, clock, sets), strict=True), key=lambda pair: pair[1].median)[0]


def time_in_turns(contestants: Sequence[Contestant], clock: Clock, sets: int) -> tuple[Recording, ...]:
    """Times of all contestants in turns, so that changes in the GPU's state affect all of them alike."""
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
