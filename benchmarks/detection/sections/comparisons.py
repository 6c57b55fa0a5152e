"""Right ways to compute public functions, and the same functions with a bug."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

WORDS = """
Functions of public repositories, drawn by lot ([any_reference.py](any_reference.py), [any_kernel.py](any_kernel.py)).
A comparison is one right way to compute a function at one set of inputs, against the set that kfuzz makes of the
function there: torch itself, other orders and formulas, variances by moments, operands in 16 bits, float32 inside
([comparisons.py](comparisons.py)). A bug is one change in the function's text that changes its exact values at the
inputs of `get_inputs`; these inputs alone are asked, under two seeds."""


def show(made: Measurement) -> Blocks:
    every = made.table("functions")
    yield from text(WORDS)
    devices = list(dict.fromkeys(one["device"] for one in every))
    columns = ("right ways on", "functions", "comparisons", "broken", "suspect", "not judged", "elements judged")
    yield from table("lrrrrrr", columns, (of_device([one for one in every if one["device"] == at]) for at in devices))
    bugs = sum((Counter(one.get("bugs", {})) for one in every), Counter[str]())
    planted, missed = bugs["planted"], bugs["kept"]
    if planted:
        yield from text(
            f"Of {planted:,} planted bugs {bugs['broken']:,} ({bugs['broken'] / planted:.1%}) are broken,",
            f"{bugs['suspect']:,} suspect, and {missed:,} ({missed / planted:.1%}) kept.",
        )
    yield from made.note()
    yield from heading("Findings in right ways, and functions that could not be compared")
    odd = [one for one in every if one.get("found") or one.get("error") or one.get("without")]
    yield from table("lll", ("function", "device", "what"), ((place(one), one["device"], words(one)) for one in odd))
    yield from heading("Planted bugs that are kept")
    with_missed = [one for one in every if one.get("missed")]
    yield from table("ll", ("function", "bugs"), ((place(one), "; ".join(one["missed"])) for one in with_missed))
    yield from heading("Every function")
    columns = ("function", "device", "comparisons", "bugs found", "seconds")
    yield from long_table("lllrr", columns, every, row, odd, "those with a line above")


def of_device(mine: Sequence[Record]) -> tuple[object, ...]:
    """The sums of a device."""
    kinds = sum((Counter(one.get("comparisons", {})) for one in mine), Counter[str]())
    elements = sum((Counter(one.get("elements", {})) for one in mine), Counter[str]())
    judged = 1 - elements["unjudged"] / max(elements.total(), 1)
    return (
        mine[0]["device"], len(mine), f"{kinds.total():,}", kinds["broken"], kinds["suspect"], kinds["unjudged"],
        f"{judged:.1%} of {elements.total():,}",
    )  # fmt: skip


def place(one: Record) -> str:
    return f"{one['repository']}: {one['path']}:{one['line']} {one['name']}"


def words(one: Record) -> str:
    """What was found, and why some inputs were not compared."""
    without = [f"{count} inputs: {why}" for why, count in one.get("without", {}).items()]
    return "; ".join((*([one["error"]] if one.get("error") else []), *one.get("found", ()), *without))


def row(one: Record) -> tuple[object, ...]:
    bugs = one.get("bugs", {})
    found = f"{bugs.get('broken', 0)} of {bugs['planted']}" if bugs.get("planted") else ""
    return place(one), one["device"], sum(one.get("comparisons", {}).values()), found, one.get("seconds", "")
