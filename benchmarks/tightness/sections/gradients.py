"""Gradients beside torch's, in double and in single precision."""

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, largest, long_table, table, text

BOUNDS = ("outside", "worst error / bound", "half width")


def show(made: Measurement) -> Blocks:
    yield from text(
        f"kfuzz's gradients, compared with those of torch {made['torch']} on a CPU. Each input has few bits.",
        "*Elements* are those that were judged, *outside* those beyond the bound; the largest error is in units of",
        "its bound, and the half width of the bound is a median. `named` is the half width under a claim that names",
        "the op's first form. `derived` is that of the gradient that kfuzz derives from the op alone, without saved",
        "values, at the same inputs.",
    )
    yield from heading("Derived")
    derived = made.table("derived")
    yield from long_table(
        "lrrrrr", ("op", "apart in float64", "elements in float32", *BOUNDS), derived,
        lambda one: (one["op"], f"{one['apart']:.1e}", *show_bounds(one)),
        largest(derived, lambda one: (one["outside"], one["worst"])), "those of the largest error",
    )  # fmt: skip
    yield from heading("From saved values")
    yield from table("llrrrrrrr", ("op", "type", "mean", "elements", *BOUNDS, "named", "derived"), (
        (one["op"], one["type"], f"{one['mean']:g}", *show_bounds(one), f"{one['named']:.3g}",
         "-" if one["derived"] is None else f"{one['derived']:.3g}")
        for one in made.table("saved")
    ))  # fmt: skip


def show_bounds(one: Record) -> list[object]:
    return [one["elements"], one["outside"], f"{one['worst']:.2f}", f"{one['width']:.3g}"]
