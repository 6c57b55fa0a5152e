"""Elements of right answers that are accused."""

from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, largest, long_table, text

COLUMNS = ("op", "type", "calls", "elements", "outside", "largest error")


def show(made: Measurement) -> Blocks:
    every = made.table("ops")
    yield from text(
        f"torch {made['torch']} on a CPU computes each op, and kfuzz judges the answers. The inputs are normal",
        "numbers, numbers of every exponent, numbers with a mean of 1000 deviations, numbers with many zeros, and",
        "small integers. The largest error is in units of the bound.",
    )
    by_type = {kind: [one for one in every if one["type"] == kind] for kind in made["types"]}
    total = [add_up("all types", every), *(add_up(kind, some) for kind, some in by_type.items())]
    worst = largest(every, lambda one: (one["outside"], one["worst"]))
    yield from long_table(
        "llrrrr", COLUMNS, every, cells, worst, "those of the largest error", [cells(one) for one in total]
    )


def cells(one: Record) -> tuple[object, ...]:
    return (one["op"], one["type"], one["calls"], f"{one['elements']:,}", one["outside"], f"{one['worst']:.2f}")


def add_up(kind: str, some: Sequence[Record]) -> Record:
    """The sums of some ops, and their largest error."""
    sums = {name: sum(one[name] for one in some) for name in ("calls", "elements", "outside")}
    return {"op": "all", "type": kind, **sums, "worst": max((one["worst"] for one in some), default=0.0)}
