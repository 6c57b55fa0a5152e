"""Which wrong steps the bounds see, beside tolerances."""

from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Lines, heading, table, text

TITLES = {"normal": "Normal numbers", "moved": "The first input moved by 10"}


def show(made: Measurement) -> Lines:
    yield from text(
        "A mutant is a problem's formula with one step changed as people get it wrong, its right answer to inputs of",
        "fewer digits, or its right answer with one element of a thousand off. The table counts the mutants that",
        "kfuzz calls suspect or broken, and those that it calls broken, under a claim that leaves all counts out, and",
        "those that `numpy.allclose` rejects. The ratio is the width of the loosest bound divided by that of the",
        "forms' bounds: its median over the elements that a form may round, and its 90th percentile.",
    )
    close = [f"allclose {one:g}" for one in made["tolerances"]]
    for name, title in TITLES.items():
        yield from heading(title)
        rows = made.table(name)
        columns = ("problem", "mutants", "suspect or broken", "broken", *close, "ratio: median", "90 %")
        yield from table("l" + "r" * (5 + len(close)), columns, [
            *((one["problem"], *counts(one), show_ratio(one["median"]), show_ratio(one["far"])) for one in rows),
            ("all", *add_up(rows), "", ""),
        ])  # fmt: skip


def counts(one: Record) -> list[int]:
    return [one["mutants"], one["suspect"], one["broken"], *one["close"]]


def add_up(rows: Sequence[Record]) -> list[int]:
    return [sum(column) for column in zip(*map(counts, rows), strict=True)]


def show_ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3g}"
