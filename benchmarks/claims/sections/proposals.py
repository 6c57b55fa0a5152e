"""Proposed claims beside those that the authors wrote."""

from collections.abc import Mapping

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, largest, long_table, text

COLUMNS = (
    "kernel", "launch", "adds: author", "proposed", "ratio", "rescales: author", "proposed", "ratio", "values",
    "kept in",
)  # fmt: skip
KEYS = ("adds", "rescales")


def show(made: Measurement) -> Blocks:
    every = made.table("kernels")
    yield from text(
        "The whole claim of each kernel is removed first. *Guessed*: kfuzz finds the arrays and the launch from the",
        "text alone, given the op. *Kept*: it keeps the author's (several kernels in a file, or a parameter of its",
        f"own) and finds only [accuracy] and [values]. Each proposal is tried in {made['cases']} trials. A ratio is",
        "the proposed count over the author's, the least and the largest of many sizes and launches up to 2^26; if",
        "one of the two counts each sum separately, the longest sum's.",
    )
    far = largest(every, lambda one: (bool(one["broken"]), most_ratio(one)))
    yield from long_table("l" * len(COLUMNS), COLUMNS, every, show_kernel, far, "those of the largest ratios")
    kept = sum(not one["broken"] and most_ratio(one) <= made["most"] for one in every)
    yield from text(f"{kept} of {len(every)} kept, with counts no more than {made['most']:g} times the author's.")


def show_kernel(one: Record) -> list[str]:
    """The cells of one kernel."""
    cells = [f"`{one['kernel']}`", one["launch"]]
    for key in KEYS:
        ratios = one[f"ratios_{key}"]
        cells += [show_count(one[f"author_{key}"]), show_count(one[f"proposed_{key}"])]
        cells.append("-" if ratios is None else f"{ratios[0]:.2f} .. {ratios[1]:.2f}")
    values = ", ".join(f"{key} = {value}" for key, value in one["values"].items())
    return [*cells, values, "; ".join(one["broken"]) or f"{one['trials']} trials"]


def show_count(count: str | Mapping[str, str]) -> str:
    if isinstance(count, str):
        return f"`{count}`"
    return ", ".join(f"{name} `{one}`" for name, one in count.items()) or "left out"


def most_ratio(one: Record) -> float:
    return max((one[f"ratios_{key}"][1] for key in KEYS if one[f"ratios_{key}"]), default=1.0)
