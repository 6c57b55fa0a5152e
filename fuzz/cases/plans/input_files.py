"""The file formats in which programs read graphs and lists of numbers, those with the strictest readers first.

Knows text and bytes; kfuzz.ui.commands.inputs detects which format a program reads.
"""

from array import array
from collections.abc import Callable, Iterable

from kfuzz.cases.plans.graphs import Graph, NumberList


def ecl(one: Graph) -> bytes:
    """ECL's binary CSR (.egr): the numbers of vertices and edges, where each vertex begins, and the targets."""
    return array("i", [one.vertices, len(one.edges), *one.starts, *(to for _, to in one.edges)]).tobytes()


def matrix_market(one: Graph) -> bytes:
    head = f"%%MatrixMarket matrix coordinate pattern general\n{one.vertices} {one.vertices} {len(one.edges)}"
    return _lines([head, *(f"{a + 1} {b + 1}" for a, b in one.edges)])


def csr(one: Graph) -> bytes:
    """CSR as text: two counts, a line of starts, a line of targets."""
    targets = " ".join(str(to) for _, to in one.edges)
    return _lines([f"{one.vertices} {len(one.edges)}", " ".join(map(str, one.starts)), targets])


def counted_edges(one: Graph) -> bytes:
    """Two counts, then an edge a line."""
    return f"{one.vertices} {len(one.edges)}\n".encode() + edges(one)


def edges(one: Graph) -> bytes:
    return _lines(f"{a} {b}" for a, b in one.edges)


def counted_numbers(one: NumberList) -> bytes:
    """How many, then a number a line."""
    return f"{len(one.values)}\n".encode() + numbers(one)


def numbers(one: NumberList) -> bytes:
    return _lines(map(str, one.values))


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


OF_GRAPHS: dict[str, Callable[[Graph], bytes]] = {
    "egr": ecl,
    "mtx": matrix_market,
    "csr.txt": csr,
    "counted_edges.txt": counted_edges,
    "edges.txt": edges,
}
OF_LISTS: dict[str, Callable[[NumberList], bytes]] = {"counted_numbers.txt": counted_numbers, "numbers.txt": numbers}
"""By the endings of their file names."""
