"""Reference functions of public repositories, drawn by lot."""

from statistics import median, quantiles

from benchmarks.measurement import Measurement
from benchmarks.page import Blocks, heading, long_table, table, text

OUTCOMES = ("judged", "warned of", "accused", "not judged", "refused", "did not end")
WORDS = """
Reference functions in torch of public repositories that we had not opened, drawn by a method that was fixed before
([any_reference.py](any_reference.py)). Each is judged against itself, with six cases and the defaults, so each finding
is a false one. *Judged*: no finding, and at least one row has a verdict."""


def show(made: Measurement) -> Blocks:
    every = made.table("functions")
    yield from text(WORDS)
    columns = ("draw", "repositories", "functions", *OUTCOMES, "s, median", "s, 90th")
    rows = (summary(made, draw) for draw in dict.fromkeys(one["draw"] for one in every))
    yield from table("l" + "r" * (len(columns) - 1), columns, rows)
    yield from text("Seconds of wall time with the import of torch.")
    yield from heading("Drawn functions without a verdict, or with a finding")
    others = [one for one in every if one["outcome"] != "judged"]
    yield from table(
        "llll", ("draw", "function", "outcome", "why"), ((*row(one)[:2], one["outcome"], one["why"]) for one in others)
    )
    yield from heading("Every drawn function")
    columns = ("draw", "function", "commit", "outcome", "rows judged", "seconds")
    yield from long_table("lllllr", columns, every, row, others, "those without a verdict")
    yield from made.note()


def summary(made: Measurement, draw: str) -> tuple[object, ...]:
    """The counts of a draw, and its seconds."""
    mine = [one for one in made.table("functions") if one["draw"] == draw]
    counts = [sum(one["outcome"] == name for one in mine) for name in OUTCOMES]
    seconds = [one["seconds"] for one in mine]
    return (
        draw, len({one["repository"] for one in mine}), len(mine), *counts,
        f"{median(seconds):.1f}", f"{quantiles(seconds, n=10)[-1]:.1f}",
    )  # fmt: skip


def row(one: dict[str, object]) -> tuple[object, ...]:
    place = f"{one['repository']}: {one['path']}:{one['line']} {one['name']}"
    judged = f"{one['judged']} of {one['rows']}"
    return one["draw"], place, str(one["commit"])[:10], one["outcome"], judged, one["seconds"]
