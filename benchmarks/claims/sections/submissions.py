"""Problems of public benchmarks, each with its own reference as a submission."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Lines, heading, table, text

STATUSES = ("judged", "partly", "not", "not measured")


def show(made: Measurement) -> Lines:
    yield from text(
        "The reference of each problem is its own solution. A problem is *judged* if it loads, if it has neither an",
        f"error nor a warning in {made['trials']} trials, and if elements of every output were judged; *partly* if",
        "those of some outputs were. If no element of an output was judged by then, there are up to four times as many",
        "trials. The tables leave out those that were *not measured*.",
    )
    yield from table("l" + "r" * 6, ("benchmark", "problems", *STATUSES, "elements"), (
        (name.replace("+", "/"), *counts(made.table(name))) for name in made["commits"]
    ))  # fmt: skip
    yield from made.note()
    for name, commit in made["commits"].items():
        every = made.table(name)
        yield from heading(f"{name.replace('+', '/')}, commit {commit}")
        yield from table("llrrl", ("problem", "status", "trials", "elements", "why"), (
            (one["name"], one["status"], one["trials"], one["elements"], one["why"].replace("|", "/"))
            for one in every if one["status"] != STATUSES[-1]
        ))  # fmt: skip


def counts(every: Sequence[Record]) -> tuple[int, ...]:
    """How many problems there are, how many of each status, and how many elements were judged."""
    count = Counter(one["status"] for one in every)
    return (len(every), *(count[status] for status in STATUSES), sum(one["elements"] for one in every))
