"""One change in the PTX of right kernels: found, reported as a warning, missed, or proved to be without effect."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

WORDS = {
    "barrier": "a barrier deleted", "fence": "a fence deleted", "wait": "a wait deleted",
    "predicate": "a predicate, or the branch around an access, deleted", "bound": "`<` made `<=`, or `<=` made `<`",
}  # fmt: skip
COUNTED = ("found", "warned", "missed")
COLUMNS = ("change", "planted", "found", "a warning only", "missed", "harmless", "no difference here")


def show(made: Measurement) -> Blocks:
    kernels, plants = made.table("kernels"), made.table("plants")
    ran = [one for one in kernels if not one.get("refused")]
    counted = [one for one in plants if one["verdict"] in COUNTED]
    reports = sum(sum(one["reports"].values()) for one in ran)
    names = {(one["door"], one["exhibit"].split()[0]) for one in ran}
    modules = {(one["door"], one["exhibit"], one["module"]) for one in counted}
    yield from text(
        "A module is a text of PTX that a compiler makes of a right kernel of the tests or of `kernels/`,",
        f"for some sizes or launches. {len(names)} kernels, in {len({one['door'] for one in ran})} languages, ran",
        f"unedited in {sum(one['trials'] for one in ran):,} trials, with {reports or 'no'} reports. One thing was",
        "then changed",
        f"in each of {len(modules)} modules, at a place drawn among those of its sort, and run at up to",
        f"{made['sizes']} sizes in {made['seeds']} seeds of values and orders of threads. Found: in each seed kfuzz",
        "reports an error of a kind",
        "that fits the change ([planted_modules.py](planted_modules.py) has the kinds, and the proofs).",
    )
    yield from table("lrrrrrr", COLUMNS, [row_of(WORDS[sort], of(plants, "sort", sort)) for sort in WORDS])
    columns = ("through", "kernels", "modules changed", *COLUMNS[1:])
    doors = dict.fromkeys(one["door"] for one in ran)
    yield from table("lrrrrrrrr", columns, [door_row(door, ran, of(plants, "door", door)) for door in doors])
    harmless = [one for one in plants if one["verdict"] == "harmless"]
    same = [one for one in plants if one["verdict"] == "same"]
    accused = [one for one in (*harmless, *same) if one["errors"]]
    yield from text(
        f"Of the {len(harmless)} changes that are proved to be harmless, and the",
        f"{len(same)} that make no difference at these sizes, {len(accused) or 'none'} gave an error.",
    )
    odd = [one for one in plants if one["verdict"] in ("warned", "missed")]
    yield from heading("Changes in PTX that are missed, or give a warning only")
    cells = ("kernel", "line", "what was there", "change", "verdict")
    yield from table("lrlll", cells, [(*cells_of(one)[:4], one["verdict"]) for one in odd])
    yield from made.note()
    yield from heading("Every change in PTX")
    columns = ("kernel", "line", "what was there", "change", "verdict", "errors", "proof")
    yield from long_table("lrlllll", columns, plants, cells_of, odd, "those that are not found")


def of(rows: Sequence[Record], column: str, value: str) -> list[Record]:
    return [one for one in rows if one[column] == value]


def row_of(words: str, mine: Sequence[Record]) -> list[object]:
    """The counts of some changes."""
    kinds = Counter(one["verdict"] for one in mine)
    return [words, sum(kinds[one] for one in COUNTED), *(kinds[one] for one in (*COUNTED, "harmless", "same"))]


def door_row(door: str, kernels: Sequence[Record], mine: Sequence[Record]) -> list[object]:
    names = {one["exhibit"].split()[0] for one in kernels if one["door"] == door}
    modules = {(one["exhibit"], one["module"]) for one in mine if one["verdict"] in COUNTED}
    return [door, len(names), len(modules), *row_of(door, mine)[1:]]


def cells_of(one: Record) -> list[object]:
    return [
        f"{one['door']}: {one['exhibit']}", one["line"], f"`{one['words'].replace('|', '&#124;')}`", one["sort"],
        one["verdict"], ", ".join(one["errors"]), one["proof"],
    ]  # fmt: skip
