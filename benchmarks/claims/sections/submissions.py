"""Problems of public benchmarks, each with its own reference as a submission."""

from collections import Counter

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, heading, table, text

STATUSES = ("judged", "partly", "not", "not measured")


def show(made: Measurement) -> Lines:
    yield from text(
        "The reference of each problem is its own solution. A problem is *judged* if it loads, if it has neither an",
        f"error nor a warning in {made['trials']} trials, and if elements of every output were judged; *partly* if",
        "those of some outputs were. The table leaves out those that were *not measured*.",
    )
    for name, commit in made["commits"].items():
        every = made.table(name)
        count = Counter(one["status"] for one in every)
        yield from heading(f"{name.replace('+', '/')}, commit {commit}")
        yield from table("r" * 6, ("problems", *STATUSES, "elements"), [
            (len(every), *(count[status] for status in STATUSES), sum(one["elements"] for one in every))
        ])  # fmt: skip
        yield from table("llrrl", ("problem", "status", "trials", "elements", "why"), (
            (one["name"], one["status"], one["trials"], one["elements"], one["why"].replace("|", "/"))
            for one in every if one["status"] != STATUSES[-1]
        ))  # fmt: skip
    yield from made.note()
