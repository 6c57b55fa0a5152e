"""How long one verdict takes."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

WHAT = {
    "cold": "a new process, an empty cache",
    "warm": "a server that runs, a new text",
    "known": "the same text again",
}


def show(made: Measurement) -> Lines:
    many, served, fuzzed = made["answers"], made["served"], made["fuzzed"]
    yield from text(
        f"Seconds of one verdict of `kfuzz judge` with the budget of {made['budget']:g} seconds, one at a time.",
        "The answers are small ([lasting_answers.toml](lasting_answers.toml)): what is measured is all that is not",
        "their own work. With few rounds the 90th percentile lies between the last two.",
    )
    rows = (
        (one["kind"], WHAT[one["what"]], one["rounds"], *(f"{one[name]:.2f}" for name in ("median", "late", "most")))
        for one in made.table("verdicts")
    )
    yield from table("llrrrr", ("answer", "in", "rounds", "median, s", "90th percentile, s", "most, s"), rows)
    yield from text(
        f"{many} answers, two of each kind, took a server of one process {served:.1f} s, and `kfuzz fuzz`, a process",
        f"for each with as many trials, {fuzzed:.1f} s: {3600 * many / served:,.0f} an hour and",
        f"{3600 * many / fuzzed:,.0f}, {fuzzed / served:.1f} times as many.",
    )
    if made["boxed"]:
        yield from text(
            f"A verdict on a function of numpy in a process of its own takes {1e3 * made['boxed']:.0f} ms in the",
            f"sandbox and {1e3 * made['open']:.0f} ms without, in turns: the median costs",
            f"{1e3 * (made['boxed'] - made['open']):.0f} ms.",
        )
    yield from made.note()
