"""Triton kernels of public repositories, drawn by lot."""

from statistics import median, quantiles

from benchmarks.measurement import Measurement
from benchmarks.page import Blocks, heading, long_table, table, text

OUTCOMES = ("run", "refused", "needs", "not reached", "did not end", "crashed")
WORDS = """
Triton kernels of public repositories that we had not opened, drawn by a method that was fixed before
([any_triton.py](any_triton.py)), under their own host functions in their own tests, without a GPU. *Run*: each launch
of the kernel was compiled, translated and run under the checker. *Accused*: with an error, whatever the test says."""


def show(made: Measurement) -> Blocks:
    every = made.table("kernels")
    yield from text(WORDS)
    columns = ("draw", "repositories", "kernels", *OUTCOMES, "accused", "test passes", "s, median", "s, 90th")
    rows = (summary(made, draw) for draw in dict.fromkeys(one["draw"] for one in every))
    yield from table("l" + "r" * (len(columns) - 1), columns, rows)
    yield from heading("Drawn kernels that were not run, or have a finding")
    others = [one for one in every if one["outcome"] != "run" or one.get("findings")]
    shown = ((*row(one)[:2], one["outcome"], "; ".join(one.get("findings") or [one["why"]])) for one in others)
    yield from table("llll", ("draw", "kernel", "outcome", "why, or findings"), shown)
    yield from heading("Every drawn kernel")
    columns = ("draw", "kernel", "commit", "outcome", "launches", "test", "seconds")
    yield from long_table("llllrlr", columns, every, row, others, "those that were not run, or have a finding")
    yield from made.note()


def summary(made: Measurement, draw: str) -> tuple[object, ...]:
    """The counts of a draw, and its seconds."""
    mine = [one for one in made.table("kernels") if one["draw"] == draw]
    counts = [sum(one["outcome"] == name for one in mine) for name in OUTCOMES]
    accused = sum(any(found.startswith("error") for found in one.get("findings", ())) for one in mine)
    passing = sum(bool(one.get("passed")) and not one.get("failed") for one in mine)
    seconds = [one["seconds"] for one in mine]
    return (
        draw, len({one["repository"] for one in mine}), len(mine), *counts, accused, passing,
        f"{median(seconds):.1f}", f"{quantiles(seconds, n=10)[-1]:.1f}",
    )  # fmt: skip


def row(one: dict[str, object]) -> tuple[object, ...]:
    place = f"{one['repository']}: {one['path']}:{one['line']} {one['kernel']}"
    passes = "passes" if one.get("passed") and not one.get("failed") else "fails" if one.get("failed") else ""
    launches = one.get("launches", 0)
    return one["draw"], place, str(one["commit"])[:10], one["outcome"], launches, passes, one["seconds"]
