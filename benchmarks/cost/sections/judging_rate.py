"""How many rows a second kfuzz judges."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

COLUMNS = (
    "op", "rows a second, one core", "ns an element", "passes", "enclosing", "comparing", "joint test and the rest",
    "an ordinary answer, ms", "all cores together",
)  # fmt: skip


def show(made: Measurement) -> Lines:
    rows, columns, a_pass = made["rows"], made["columns"], made["pass"]
    yield from text(
        f"Right answers of {rows:,} rows of {columns} elements, float32, judged under a claim that says nothing.",
        f"A pass is one addition of two arrays of a slice in float64, {1e9 * a_pass:.2f} ns an element here.",
        f"An ordinary answer has {made['ordinary']} rows. The last column is the sum of {made['cores']} processes that",
        "judge at the same time, by the clock.",
    )
    yield from made.note()
    yield from table("lrrrrrrrr", COLUMNS, (
        (
            one["op"], f"{rows / one['seconds']:,.0f}", f"{1e9 * one['seconds'] / rows / columns:.0f}",
            f"{one['seconds'] / rows / columns / a_pass:.0f}", f"{one['enclosing'] / one['seconds']:.0%}",
            f"{one['comparing'] / one['seconds']:.0%}",
            f"{1 - (one['enclosing'] + one['comparing']) / one['seconds']:.0%}",
            f"{1e3 * one['ordinary']:.1f}", f"{one['together']:,.0f}",
        )
        for one in made.table("ops")
    ))  # fmt: skip
