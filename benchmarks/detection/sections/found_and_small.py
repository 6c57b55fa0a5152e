"""How soon a broken kernel is found, and how small its case becomes."""

from statistics import median

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, largest, long_table, text

COLUMNS = (
    "kernel", "kind", "found in", "trials: median", "worst", "largest minimized case", "before, elements", "tried",
    "seconds: median", "worst",
)  # fmt: skip


def show(made: Measurement) -> Blocks:
    yield from text(
        "How soon kfuzz finds the defect of each broken kernel, and how small it makes the case that shows it."
    )
    yield from text(
        "For each seed, the trials of a campaign run until one shows the kind of defect that the kernel declares;",
        "that very case, not a smaller one found later, is then minimized.",
    )
    yield from made.note()
    every = made.table("kernels")
    late = largest(every, lambda one: (one["found"] < one["seeds"], one["worst"] or 0))
    yield from long_table("lllrrlrrrr", COLUMNS, every, show_kernel, late, "those missed, and those found last")
    found, wanted = (sum(one[name] for one in every) for name in ("found", "seeds"))
    trials = [one["median"] for one in every if one["found"]]
    yield from text(
        f"{found} of {wanted} found; trials: {median(trials):g} in the median of the kernels' medians, worst",
        f"{max(one['worst'] or 0 for one in every)}; device {made['device']}, {made['jobs']} at a time.",
    )


def show_kernel(one: Record) -> list[object]:
    """The cells of one kernel; empty where nothing was found or minimized."""
    largest = (one["largest"] or "").replace("|", "/")
    return [
        f"`{one['kernel']}`", one["kind"], f"{one['found']} of {one['seeds']} seeds", show_number(one["median"], "g"),
        show_number(one["worst"], "d"), largest, show_number(one["before"], "d"), show_number(one["tried"], "d"),
        show_number(one["seconds"], ".1f"), show_number(one["most_seconds"], ".1f"),
    ]  # fmt: skip


def show_number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
