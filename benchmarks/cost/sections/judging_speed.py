"""The time of a verdict beside that of an older kfuzz."""

import numpy as np

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text


def show(made: Measurement) -> Lines:
    ops = made.table("ops")
    ratios = [one["ratio"] for one in ops]
    yield from text(
        f"Processor milliseconds of a verdict in one thread: {len(ops)} ops that both have, in turns on the same",
        f"arrays. The ratio is {np.median(ratios):.2f} in the median and {max(ratios):.2f} at most.",
        f"A convolution of 38 million products is judged in {made['convolution']:.2f} s.",
    )
    yield from table("lrrrr", ("op", "elements", "before, ms", "now, ms", "ratio"), (
        (one["op"], f"{one['elements']:,}", f"{1e3 * one['before']:.1f}", f"{1e3 * one['now']:.1f}",
         f"{one['ratio']:.2f}")
        for one in sorted(ops, key=lambda one: -one["ratio"])
    ))  # fmt: skip
