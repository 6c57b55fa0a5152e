"""How often the test of draws is wrong by chance, and how soon it sees a wrong kernel."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, heading, table, text


def show(made: Measurement) -> Lines:
    nulls, levels = made.table("nulls"), made["levels"]
    yield from text(
        f"Right kernels are simulated: {made['each']} runs of each of {len(nulls)} distributions, {made['draws']}",
        "draws a run, with a look at the evidence after every draw. The table counts the runs in which it passed",
        "each threshold.",
    )
    total = [sum(column) for column in zip(*(one["above"] for one in nulls), strict=True)]
    yield from table("l" + "r" * len(levels), ("null", *(f"above {level}" for level in levels)), [
        *((one["null"], *one["above"]) for one in nulls),
        (f"all {made['each'] * len(nulls)}", *total),
        ("Ville's inequality: at most, on average", *made["allowed"]),
        ("more only once in 10^9 experiments", *made["by_chance"]),
    ])  # fmt: skip
    yield from heading("Power")
    yield from text(
        "The number of draws of one quantity after which a wrong kernel's evidence exceeds 2^70: the median of nine",
        "runs.",
    )
    yield from table("lrr", ("what a wrong kernel does", "probabilities known exactly", "within 1 %"), (
        (one["wrong"], *(one[name] or "more than 2^21" for name in ("exactly", "within")))
        for one in made.table("power")
    ))  # fmt: skip
