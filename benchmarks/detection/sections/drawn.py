"""Public programs, drawn by lot."""

from statistics import median, quantiles

from benchmarks.measurement import Measurement
from benchmarks.page import Blocks, heading, long_table, table, text

VERDICTS = ("kept", "kept in part", "finding")
WORDS = """
Programs of public repositories that we had not opened, drawn by a method that was fixed before
([drawn.py](drawn.py)): files with a `main` and a launch, at most two of a repository, which nvcc of CUDA 13 builds
alone. Each goes through `kfuzz check` with its defaults, on two cores. *Kept*: all runs ended and show no error. *Kept
in part*: no error in what ran within the 60 s of `--max-time`. What the first draw showed was repaired before the
second was run, so the last draw is the result, and the programs of the earlier ones are a list for later repairs."""


def show(made: Measurement) -> Blocks:
    every = made.table("programs")
    draws = list(dict.fromkeys(one["draw"] for one in every))
    yield from text(WORDS)
    yield from table("lrrrrrrrr", ("draw", "nvcc got", "it builds", *VERDICTS, "no verdict", "s, median", "s, 90th"), (
        summary(made, draw) for draw in draws
    ))  # fmt: skip
    yield from text("Seconds of wall time with the compiler.")
    yield from heading("Accusations of drawn programs")
    accused = [one for one in every if one["findings"]]
    columns = ("program", "findings", "what is wrong in the program")
    rows = [(f"{one['repository']}: {one['path']}", ", ".join(one["findings"]), one["why"]) for one in accused]
    yield from table("lll", columns, rows)
    yield from heading("Every drawn program")
    columns = ("draw", "program", "commit", "outcome", "seconds")
    left = [one for one in every if one["outcome"] not in VERDICTS]
    yield from long_table("llllr", columns, every, program_row, left, "those without a verdict")
    yield from made.note()


def summary(made: Measurement, draw: str) -> tuple[object, ...]:
    """The counts of a draw, and its seconds."""
    mine = [one for one in made.table("programs") if one["draw"] == draw]
    counts = [sum(one["outcome"] == name for one in mine) for name in VERDICTS]
    seconds = [one["seconds"] for one in mine]
    return (
        draw, made["tried"][draw], len(mine), *counts, len(mine) - sum(counts),
        f"{median(seconds):.1f}", f"{quantiles(seconds, n=10)[-1]:.1f}",
    )  # fmt: skip


def program_row(one: dict[str, object]) -> tuple[object, ...]:
    return one["draw"], f"{one['repository']}: {one['path']}", str(one["commit"])[:10], one["outcome"], one["seconds"]
