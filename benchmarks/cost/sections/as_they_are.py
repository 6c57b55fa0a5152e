"""Labelled programs, and a large file."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

COLUMNS = ("suite", "right programs", "unchecked, s, median", "checked, s, median", "ratio, median", "largest")


def show(made: Measurement) -> Lines:
    yield from text("Processor seconds of a run of each right program of a suite, the least of three runs.")
    yield from table("lrrrrr", COLUMNS, (
        (one["suite"], one["programs"], f"{one['fast']:.4f}", f"{one['checked']:.4f}", f"{one['ratio']:.2f}",
         f"{one['largest']:.1f}")
        for one in made.table("suites")
    ))  # fmt: skip
    yield from text(
        f"A file of {made['large_lines']} lines, nearly all of them host code, with {made['large_launches']} launches, "
        f"compiles for a checked run in {made['large_seconds']:.1f} s."
    )
    yield from made.note()
