"""Large launches, checked whole and by a sample of their blocks."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

COLUMNS = (
    "program", "blocks", "in full", "whole, s", "sampled, s", "ratio", "whole, turns, s", "sampled, turns, s", "ratio",
)  # fmt: skip
SECONDS = ("whole", "sampled", "ratio", "whole_turns", "sampled_turns", "ratio_turns")


def show(made: Measurement) -> Lines:
    yield from text(
        "Processor seconds of one run, first with every block checked in full, then with a sample of the blocks: in",
        "forward order, and in a shuffled one in which threads take turns.",
    )
    yield from text(
        "A program with 0 blocks stays below 64 million accesses and is not sampled: its ratios show how much a busy",
        "machine adds.",
    )
    yield from table("lrrrrrrrr", COLUMNS, (
        (one["program"], f"{one['blocks']:,}", f"{one['in_full']:,}", *(f"{one[name]:.1f}" for name in SECONDS))
        for one in made.table("programs")
    ))  # fmt: skip
