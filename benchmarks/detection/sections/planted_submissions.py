"""Right and wrong submissions to KernelBench: which bugs are found, and what KernelBench's own test says of them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchmarks.measurement import Measurement
from benchmarks.page import Blocks, heading, largest, long_table, table, text

STATUSES = ("broken", "warned", "kept", "not judged")
SORTS = {"bug": "with one bug", "twin": "the problem's own Model", "decomposed": "the same by torch's decompositions"}


def show(made: Measurement) -> Blocks:
    yield from text(
        "Each of the problems with an odd number of levels 1 and 2 has three submissions (level2/84 in the place of",
        "level2/83, whose reference draws random numbers): its own Model under the name ModelNew, the same with",
        "torch's decomposition of each operation, and one with a planted bug. Each has its",
        f"own campaign, as by `kfuzz fuzz --reference` on the cpu device: {made['trials']} trials at most for a bug, a",
        "third of these for a right one. A submission is *broken* if there is an error, *warned* if there are only",
        "warnings.",
    )
    yield from table("lrrrrr", ("submission", "measured", *STATUSES), (
        (words, len(made.table(sort)), *(count(made, sort)[status] for status in STATUSES))
        for sort, words in SORTS.items()
    ))  # fmt: skip
    bugs = made.table("bug")
    asked = [one["test"] for one in bugs if one["test"] and one["test"]["trials"]]
    accepted = sum(one["passed"] == one["trials"] for one in asked)
    if asked:
        yield from text(
            f"KernelBench's own test was asked about {len(asked)} of the bugs and accepts {accepted} of them. The",
            "others do not fit into memory, or take more than a minute.",
        )
    yield from heading("The bugs")
    yield from text("The last column is KernelBench's own test: trials passed, of how many. * marks smaller constants.")
    last = largest(bugs, lambda one: (one["status"] != STATUSES[0], one["trial"] or 0))
    yield from long_table(
        "lllrl", ("problem", "bug", "found", "trial", "its own test"), bugs, cells, last,
        "those that are not broken, and those found last",
    )  # fmt: skip
    if accused := [one for sort in ("twin", "decomposed") for one in made.table(sort) if one["status"] != "kept"]:
        yield from heading("Right submissions that are not kept")
        yield from table("llll", ("problem", "submission", "status", "why"), (
            (one["name"], SORTS[one["sort"]], found_text(one), one["why"].replace("|", "/"))
            for one in accused
        ))  # fmt: skip
    yield from made.note()


def cells(one: Mapping[str, Any]) -> tuple[object, ...]:
    trial = "-" if one["trial"] is None else one["trial"]
    return (one["name"] + "*" * one["is_smaller"], one["bug"], found_text(one), trial, test_text(one["test"]))


def count(made: Measurement, sort: str) -> Counter[str]:
    return Counter(one["status"] for one in made.table(sort))


def found_text(one: Mapping[str, Any]) -> str:
    return f"{one['status']}: {one['kind']}" if one["kind"] else str(one["status"])


def test_text(test: Mapping[str, Any] | None) -> str:
    """`5 of 5`, or a dash if it was not asked."""
    return f"{test['passed']} of {test['trials']}" if test and test["trials"] else "-"
