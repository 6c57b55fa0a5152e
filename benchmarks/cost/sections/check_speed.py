"""What it costs to check every access, kernel by kernel."""

from statistics import median

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, long_table, text

AIM, RATE = 4.0, 15.0
"""The aims: at most so many times as long, and at least so many million accesses per second."""
BUSY = 0.5
"""The number of accesses, in millions, from which they determine the time of a kernel."""
COLUMNS = ("kernel", "sizes", "fast, ms", "checked, ms", "times", "accesses, millions", "a second, millions")


def show(made: Measurement) -> Blocks:
    every = made.table("kernels")
    ratios, busy = [one["ratio"] for one in every], [one["rate"] for one in every if is_busy(one)]
    kernels = made.figures.numbers.get("chosen", len(every))
    sample = f"The {len(every)} kernels are a random sample of {kernels}." if len(every) < kernels else ""
    within, fast = sum(one <= AIM for one in ratios), sum(one >= RATE for one in busy)
    yield from text(
        "The time of a run in which every access is checked, compared with one in which no access is: the least of",
        f"{made['turns']} turns each. An access is a load, store or atomic of a thread. {sample}".rstrip(),
    )
    yield from text(
        f"{within} of {len(every)} kernels take at most {AIM:g} times as long; the median is {median(ratios):.1f}",
        f"times as long, the largest ratio {max(ratios):.1f}. {len(busy)} kernels make half a million accesses or",
        f"more; {fast} of them check {RATE:g} million or more per second (the least {min(busy, default=0):.0f}, the",
        f"median {median(busy or [0]):.0f}).",
    )
    slow = [one for one in every if one["ratio"] > AIM or (is_busy(one) and one["rate"] < RATE)]
    yield from long_table("llrrrrr", COLUMNS, every, cells, slow, "those that miss one of these aims")


def is_busy(one: Record) -> bool:
    return bool(one["accesses"] >= BUSY)


def cells(one: Record) -> tuple[object, ...]:
    return (
        one["name"], one["sizes"], f"{one['fast']:.1f}", f"{one['checked']:.1f}", f"{one['ratio']:.1f}",
        f"{one['accesses']:.2f}", f"{one['rate']:.0f}",
    )  # fmt: skip
