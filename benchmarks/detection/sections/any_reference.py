"""Reference functions of public repositories, drawn by lot."""

from collections.abc import Sequence
from statistics import median, quantiles

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

OUTCOMES = ("judged", "warned of", "accused", "not judged", "refused", "did not end")
WORDS = """
Reference functions in torch of public repositories that we had not opened, drawn by a method that was fixed before
([any_reference.py](any_reference.py)). Each is judged against itself, with six cases and the defaults, so each finding
is a false one. *Judged*: no finding, and at least one row has a verdict."""


def show(made: Measurement) -> Blocks:
    yield from drawn_blocks(made, WORDS, "function")


def drawn_blocks(made: Measurement, words: str, noun: str) -> Blocks:
    """The figures of draws, and a row for each function."""
    every = made.table(f"{noun}s")
    yield from text(words)
    columns = ("draw", "repositories", f"{noun}s", *OUTCOMES, "s, median", "s, 90th")
    rows = (
        summary([one for one in every if one["draw"] == draw]) for draw in dict.fromkeys(one["draw"] for one in every)
    )
    yield from table("l" + "r" * (len(columns) - 1), columns, rows)
    yield from text("Seconds of wall time with the import of torch.")
    yield from heading(f"Drawn {noun}s without a verdict, or with a finding")
    others = [one for one in every if one["outcome"] != "judged"]
    yield from table(
        "llll", ("draw", noun, "outcome", "why"), ((*row(one)[:2], one["outcome"], one["why"]) for one in others)
    )
    yield from heading(f"Every drawn {noun}")
    columns = ("draw", noun, "commit", "outcome", "rows judged", "seconds")
    yield from long_table("lllllr", columns, every, row, others, "those without a verdict")
    yield from made.note()


def summary(mine: Sequence[Record]) -> tuple[object, ...]:
    """The counts of a draw, and its seconds."""
    counts = [sum(one["outcome"] == name for one in mine) for name in OUTCOMES]
    seconds = [one["seconds"] for one in mine]
    return (
        mine[0]["draw"], len({one["repository"] for one in mine}), len(mine), *counts,
        f"{median(seconds):.1f}", f"{quantiles(seconds, n=10)[-1]:.1f}",
    )  # fmt: skip


def row(one: dict[str, object]) -> tuple[object, ...]:
    place = f"{one['repository']}: {one['path']}:{one['line']} {one['name']}"
    judged = f"{one['judged']} of {one['rows']}"
    return one["draw"], place, str(one["commit"])[:10], one["outcome"], judged, one["seconds"]
