"""What judging narrow types costs, op by op."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

COLUMNS = ("op", "kernels", "elements", "s a million, median", "dearest", "its kernel")


def show(made: Measurement) -> Lines:
    yield from text(
        "Processor seconds for a million elements of inputs and outputs, on one core: exact answer, enclosure and",
        "verdict of a right kernel's answer to normal numbers, the better of two.",
    )
    yield from table("lrrrrl", COLUMNS, (
        (one["op"], one["kernels"], f"{one['elements']:,}", f"{one['median']:.2f}", f"{one['dearest']:.2f}",
         f"`{one['kernel']}`")
        for one in made.table("ops")
    ))  # fmt: skip
