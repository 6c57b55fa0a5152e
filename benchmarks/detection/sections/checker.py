"""The bugs of the planted programs that the checker finds."""

from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Lines, table, text

COLUMNS = ("with a bug", "by an error", "by a warning", "missed", "without one", "accused", "not run", "seconds")
COUNTS = ("wrong", "found", "warned", "missed", "right", "accused", "not_run")


def show(made: Measurement) -> Lines:
    yield from text(
        f"The command runs the {made['pairs']} pairs of `tests/data/planted/programs/`, each without its bug and with",
        f"it, on {made['seeds']} seeds (other inputs, other graphs, other orders of threads and blocks), three runs a",
        "seed: forward, reverse, and shuffled with switches between threads and blocks. *Found* is an error of the",
        "bug's kind; *accused* is any finding in a program without its bug.",
    )
    yield from show_counts("class", made.table("classes"))
    yield from show_counts("block", made.table("blocks"))
    yield from made.note()


def show_counts(title: str, rows: Sequence[Record]) -> Lines:
    """A table with its sum."""
    total = {name: sum(one[name] for one in rows) for name in (*COUNTS, "seconds")}
    yield from table("l" + "r" * len(COLUMNS), (title, *COLUMNS), (
        (one["name"], *(one[name] for name in COUNTS), f"{one['seconds']:.0f}")
        for one in (*rows, {"name": "**all**", **total})
    ))  # fmt: skip
