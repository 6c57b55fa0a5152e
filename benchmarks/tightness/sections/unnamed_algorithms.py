"""Right algorithms that no form of their op names."""

from collections import Counter

from benchmarks.measurement import Measurement
from benchmarks.page import Blocks, long_table, text

WHAT = """
Each algorithm computes rows of 96 normal numbers, of scale 1, 8 and 1e-3, and moved by 10, and rows in which one number
is 50 times the others. *kept* is inside the op's forms, *suspect* inside a rearrangement of them. The error is in units
of the forms' bound. Strassen's products and Winograd's convolutions add terms that are none of an answer's;
[limits.md](../../docs/limits.md) says what becomes of such algorithms."""


def show(made: Measurement) -> Blocks:
    statuses, every = made["statuses"], made.table("algorithms")
    yield from text(WHAT)
    yield from long_table(
        "ll" + "r" * (len(statuses) + 1), ("op", "algorithm", *statuses, "largest error"), every,
        lambda one: (one["op"], one["about"], *(one["counts"][status] for status in statuses), f"{one['worst']:.2g}"),
        [one for one in every if one["gravest"] != "kept"], "those that are not always kept",
    )  # fmt: skip
    for adds_others, which in ((False, "add their answer's terms alone"), (True, "add others, too")):
        gravest = Counter(one["gravest"] for one in every if one["adds_others"] is adds_others)
        counts = ", ".join(f"{gravest[status]} {status}" for status in statuses)
        yield from text(f"Of the {gravest.total()} algorithms that {which}, by their worst verdict: {counts}.")
