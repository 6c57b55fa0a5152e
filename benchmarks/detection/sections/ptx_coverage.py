"""Inline PTX of public repositories: how much of it the cpu device understands."""

from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Lines, table, text

COLUMNS = (
    "repository", "commit", "asm statements", "understood", "no PTX", "before", "files with asm", "wholly understood",
    "before",
)  # fmt: skip
COUNTS = ("statements", "understood", "no_ptx", "before", "files", "whole", "whole_before")


def show(made: Measurement) -> Lines:
    every = made.table("repositories")
    total = add_up(every)
    mine = add_up([one for one in every if one["name"] != made["largest"]])
    yield from table("llrrrrrrr", COLUMNS, map(show_repository, [*every, total]))
    yield from text(
        f"*Before* is commit {made['first']}, which had a table of single instructions. Of all statements",
        f"{total['understood'] / max(total['statements'], 1):.1%} are understood, and without {made['largest']}",
        f"{mine['understood'] / max(mine['statements'], 1):.1%} of {mine['statements']}.",
        no_ptx(total),
        "Refused are:",
    )
    yield from table("lr", ("first instruction that is not understood", "statements"), [
        *(one.values() for one in made.table("refused")),
        (f"others, each in fewer than {made['least_shown']} statements", made["rest"]),
    ])  # fmt: skip
    yield from made.note()


def no_ptx(total: Record) -> str:
    """A sentence about statements that are not PTX, if they were counted."""
    if total["no_ptx"] is None:
        return "An asm statement of host code, such as another processor's, counts like any other."
    rest = total["statements"] - total["no_ptx"]
    return (
        f"*No PTX* are those that are refused here and that ptxas of CUDA 13.0 refuses for every architecture since"
        f" Hopper: of another processor, or never assembled. Of the others {total['understood'] / rest:.1%} are"
        f" understood."
    )


def add_up(every: Sequence[Record]) -> Record:
    """The sums of all columns; None where one of the repositories has none."""
    sums = {name: None if None in (each := [one[name] for one in every]) else sum(each) for name in COUNTS}
    return {"name": "**all**", "commit": "", **sums}


def show_repository(one: Record) -> list[object]:
    """The cells of one repository; empty where nothing was counted before."""

    def share(part: int | None) -> str:
        return "" if part is None else f"{part} ({part / max(one['statements'], 1):.1%})"

    whole_before = "" if one["whole_before"] is None else one["whole_before"]
    return [
        one["name"], one["commit"], one["statements"], share(one["understood"]),
        "" if one["no_ptx"] is None else one["no_ptx"], share(one["before"]), one["files"], one["whole"], whole_before,
    ]  # fmt: skip
