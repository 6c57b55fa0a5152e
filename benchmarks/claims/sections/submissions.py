"""Problems of public benchmarks, each with its own reference as a submission."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.claims.submissions import NOT_MEASURED
from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

STATUSES = ("judged", "partly", "not")


def show(made: Measurement) -> Blocks:
    yield from text(
        "The reference of each problem is its own solution. A problem is *judged* if it loads, if it has neither an",
        f"error nor a warning in {made['trials']} trials, and if elements of every output were judged; *partly* if",
        "those of some outputs were. If no element of an output was judged by then, there are up to four times as many",
        "trials. The tables leave out those that were *not measured*.",
    )
    yield from table("l" + "r" * 6, ("benchmark", "problems", *STATUSES, NOT_MEASURED, "elements"), (
        (name.replace("+", "/"), *counts(made["problems"][name], made.table(name))) for name in made["commits"]
    ))  # fmt: skip
    yield from made.note()
    for name, commit in made["commits"].items():
        every = made.table(name)
        yield from heading(f"{name.replace('+', '/')}, commit {commit}")
        columns, rest = ("problem", "status", "trials", "elements", "why"), [one for one in every if not is_judged(one)]
        yield from long_table("llrrl", columns, every, show_problem, rest, "those that are not judged, or partly")


def is_judged(one: Record) -> bool:
    return bool(one["status"] == STATUSES[0])


def show_problem(one: Record) -> tuple[object, ...]:
    return (one["name"], one["status"], one["trials"], one["elements"], one["why"].replace("|", "/"))


def counts(problems: int, measured: Sequence[Record]) -> tuple[int, ...]:
    """How many problems there are, how many of each status, and how many elements were judged."""
    count = Counter(one["status"] for one in measured)
    left, elements = problems - len(measured), sum(one["elements"] for one in measured)
    return (problems, *(count[status] for status in STATUSES), left, elements)
