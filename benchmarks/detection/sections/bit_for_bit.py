"""The same PTX on a GPU and on the cpu device."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

WORDS = """
Launches of Triton kernels of public repositories, under their own host functions on a GPU: each is run again on the cpu
device, from the same PTX and the same memory ([bit_for_bit.py](bit_for_bit.py)). All arrays that a launch was given are
compared, each element by its bits; two NaNs are equal. *Exact* kernels have IEEE's arithmetic alone; the others have
products of tensor cores, approximate functions, or sums by atomics whose order is not fixed. The largest
difference is a part of the largest number of its array."""
RUN = ("exact", "approximate", "products", "atomic")


def show(made: Measurement) -> Blocks:
    every = made.table("launches")
    yield from text(WORDS)
    run = [one for one in every if one["kind"] in RUN]
    columns = ("arithmetic", "launches", "all bits equal", "elements", "that differ", "largest difference")
    yield from table("lrrrrr", columns, (of_kind([one for one in run if one["kind"] == kind]) for kind in RUN))
    others = Counter(one["kind"] for one in every if one["kind"] not in RUN)
    if others:
        yield from text(", ".join(f"{count} {kind}" for kind, count in others.items()), "are not compared.")
    yield from made.note()
    yield from heading("Exact kernels that differ, and launches that are not compared")
    odd = [one for one in every if one["kind"] not in RUN or (one["kind"] == "exact" and one["different"])]
    yield from table("lll", ("kernel", "arithmetic", "what"), ((name(one), one["kind"], words(one)) for one in odd))
    yield from heading("Every launch")
    columns = ("kernel", "arithmetic", "elements", "that the GPU changed", "that differ", "largest difference")
    yield from long_table("llrrrr", columns, every, row, odd, "those with a line above")


def of_kind(mine: Sequence[Record]) -> tuple[object, ...]:
    """The sums of a kind."""
    equal = sum(not one["different"] for one in mine)
    return (
        mine[0]["kind"] if mine else "", len(mine), equal, f"{sum(one['elements'] for one in mine):,}",
        f"{sum(one['different'] for one in mine):,}", largest(mine),
    )  # fmt: skip


def largest(mine: Sequence[Record]) -> str:
    most = max((one["largest"] for one in mine), default=0.0)
    return f"{most:.2g}" if most else ""


def name(one: Record) -> str:
    return f"{one['repository']}: {one['kernel']}"


def words(one: Record) -> str:
    return str(one.get("why", "")) or f"{one['different']} of {one['elements']} elements, by {one['largest']:.2g}"


def row(one: Record) -> tuple[object, ...]:
    return name(one), one["kind"], one["elements"], one["changed"], one["different"], largest([one])
