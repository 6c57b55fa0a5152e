"""Graphs and lists of numbers that make threads collide: a few, always the same, for programs that read such files.

Every graph has each edge in both directions, without loops and duplicates, so that every reader of graphs accepts it.
Knows content; input_files.py knows the formats.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Pairs = Iterable[tuple[int, int]]


@dataclass(frozen=True)
class Graph:
    """Vertices from 0 on; `edges` from and to, in order."""

    name: str
    vertices: int
    edges: tuple[tuple[int, int], ...]

    @property
    def starts(self) -> list[int]:
        """Where each vertex's edges begin, and the last one's end."""
        counts = [0] * (self.vertices + 1)
        for one, _ in self.edges:
            counts[one + 1] += 1
        for vertex in range(self.vertices):
            counts[vertex + 1] += counts[vertex]
        return counts


@dataclass(frozen=True)
class NumberList:
    """Numbers from 0 to below how many there are: values, or indices into themselves."""

    name: str
    values: tuple[int, ...]


def graph(name: str, vertices: int, pairs: Pairs) -> Graph:
    """The graph with these pairs as edges in both directions."""
    both = {way for one, other in pairs if one != other for way in ((one, other), (other, one))}
    return Graph(f"{name}_{vertices}", vertices, tuple(sorted(both)))


def any_pairs(vertices: int, count: int, seed: int, steep: int = 1) -> list[tuple[int, int]]:
    """So many different pairs; with a higher `steep` more of them share the first vertices."""
    draw = random.Random(seed)  # noqa: S311  not a secret
    found = set[tuple[int, int]]()
    while len(found) < count:
        one, other = sorted((int(vertices * draw.random() ** steep), draw.randrange(vertices)))
        if one != other:
            found.add((one, other))
    return sorted(found)


def chain(vertices: int) -> Pairs:
    return ((vertex, vertex + 1) for vertex in range(vertices - 1))


GRAPHS = (
    graph("chain", 5, chain(5)),
    graph("chain", 200, chain(200)),
    graph("star", 100, ((0, vertex) for vertex in range(1, 100))),
    graph("stars", 300, ((vertex % 3, vertex) for vertex in range(3, 300))),
    graph("all_to_all", 24, ((one, other) for one in range(24) for other in range(one))),
    graph(
        "grid",
        256,
        ((v, v + step) for v in range(256) for step in (1, 16) if v + step < 256 and (v % 16 < 15 or step > 1)),
    ),
    graph("random", 100, any_pairs(100, 200, 1)),
    graph("power_law", 200, any_pairs(200, 1000, 2, steep=4)),
)
PROBE = graph("probe", 97, any_pairs(97, 167, 3))
"""Its numbers of vertices and of pairs are prime, so that they show whether a program has read the file."""
COUNT = 331
_ORDERS: dict[str, Callable[[int], int]] = {
    "all_equal": lambda _: COUNT // 2,
    "few": lambda place: place % 4,
    "in_order": lambda place: place,
    "backwards": lambda place: COUNT - 1 - place,
    "shuffled": lambda place: place * 100 % COUNT,
    "first_or_last": lambda place: (COUNT - 1) * (place * 7 % 3 == 0),
}
LISTS = tuple(NumberList(name, tuple(map(of, range(COUNT)))) for name, of in _ORDERS.items())
