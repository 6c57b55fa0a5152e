"""The time of a verdict beside that of an older kfuzz."""

import numpy as np

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, largest, long_table, text


def show(made: Measurement) -> Blocks:
    ops = made.table("ops")
    ratios = [one["ratio"] for one in ops]
    yield from text(
        f"Processor milliseconds of a verdict in one thread: {len(ops)} ops that both have, in turns on the same",
        f"arrays. The ratio is {np.median(ratios):.2f} in the median and {max(ratios):.2f} at most.",
        f"A convolution of 38 million products is judged in {made['convolution']:.2f} s.",
    )
    columns, by_ratio = ("op", "elements", "before, ms", "now, ms", "ratio"), lambda one: one["ratio"]
    ordered = sorted(ops, key=by_ratio, reverse=True)
    yield from long_table("lrrrr", columns, ordered, cells, largest(ops, by_ratio), "those of the largest ratio")


def cells(one: Record) -> tuple[object, ...]:
    now, before = (f"{1e3 * one[name]:.1f}" for name in ("now", "before"))
    return (one["op"], f"{one['elements']:,}", before, now, f"{one['ratio']:.2f}")
