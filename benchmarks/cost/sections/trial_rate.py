"""Judged trials a second beside those of an older kfuzz, and where the time goes."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

RATES = ("kfuzz", "processes", "trials", "trials/s", "rows/s", "planning and judging, ms", "running, ms",
         "counting, ms", "begun, s", "ended, s")  # fmt: skip
KINDS = ("kfuzz", "kind of trial", "trials", "planning", "waiting for the device", "judging")


def show(made: Measurement) -> Lines:
    rates, kinds = made.table("rates"), made.table("kinds")
    yield from text(
        f"The same campaigns over {made['kernels']} kernels, each under {made['copies']} names with trials of its own,",
        f"on the {made['device']} device, in turns. The rate is that from 15 % of the trials to the last one. Three",
        "columns are processor milliseconds of a trial; the last two say after how many seconds of the whole campaign",
        "the first twentieth of all trials had ended, and all.",
    )
    if "same" in made.figures.numbers:
        yield from text(
            f"Of {sum(one['ordinary'] for one in rates):,} ordinary trials, those of one number ended "
            f"{'the same in all campaigns' if made['same'] else 'differently in some campaigns'}:",
            "rows, elements, largest error, reasons and findings.",
        )
    yield from table("lrrrrrrrrr", RATES, (
        (one["kfuzz"], one["processes"], f"{one['trials']:,}", f"{one['trials'] / one['seconds']:,.0f}",
         f"{one['rows'] / one['seconds']:,.0f}", f"{1e3 * one['callers'] / one['trials']:.2f}",
         *(f"{1e3 * one[part] / one['trials']:.2f}" if one.get(part) else "-" for part in ("workers", "counting")),
         *(f"{one[end]:.1f}" for end in ("began", "ended")))
        for one in sorted(rates, key=lambda one: (one["processes"], one["kfuzz"], one["round"]))
    ))  # fmt: skip
    yield from text("The time of one process by kind of trial in the first round, in milliseconds of a trial.")
    yield from table("llrrrr", KINDS, (
        (one["kfuzz"], one["kind"], one["trials"],
         *(f"{1e3 * one[part] / one['trials']:.2f}" for part in ("generation", "device", "oracle")))
        for one in kinds if one["processes"] == one["round"] == 1
    ))  # fmt: skip
    yield from made.note()
