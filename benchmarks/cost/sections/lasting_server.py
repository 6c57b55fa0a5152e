"""What one server holds after thousands of verdicts, and whether they stay the same."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

HELD = {
    "memory": ("memory of all processes, MB", 1 << 20),
    "server": ("memory of the server's own process, MB", 1 << 20),
    "judges": ("memory of the processes that judge, MB", 1 << 20),
    "largest": ("memory of the largest process, MB", 1 << 20),
    "processes": ("processes", 1),
    "threads": ("threads", 1),
    "files": ("open files", 1),
    "scratch": ("scratch folders", 1),
    "temporary": ("temporary files", 1),
    "cache": ("files in the cache", 1),
    "cached": ("the cache, MB", 1 << 20),
    "rate": ("verdicts a second", 1),
}
OF_COUNTS = ("what is held", "least", "most", "at the end", "rise in 1000 verdicts", "error of the rise")
OF_KINDS = (
    "answer", "verdicts", "wrong or missing", "cut short", "different verdicts", "case not the smallest",
    "different lines", "s, median", "s, longest",
)  # fmt: skip


def show(made: Measurement) -> Lines:
    yield from text(
        f"{made['count']:,} answers to one server with {made['jobs']} processes, seed {made['seed']}, budget",
        f"{made['budget']:g} s, after {made['warming']:,} to warm it up. After each {made['every']}, when none is",
        "judged, all that it holds is counted; the rise is that of the straight line of least squares.",
        f"{made['lost']} processes were lost; {made['judges']} processes judged in all.",
    )
    yield from made.note()
    yield from table("lrrrrr", OF_COUNTS, (
        (name, *(f"{one[what] / unit:,.2f}" for what in ("least", "most", "last", "rise", "error")))
        for one in made.table("rises") for name, unit in (HELD[one["what"]],)
    ))  # fmt: skip
    yield ""
    yield from text(
        "Each kind of answer: those with another status than is right, or none; those whose trials the clock has",
        "ended, and how many different verdicts the others have; those whose search for a smaller case it has ended,",
        "and how many different lines the others have, seconds apart.",
    )
    yield from table("lrrrrrrrr", OF_KINDS, (
        (
            one["kind"], one["count"], one["others"], one["cut_short"], one["verdicts"], one["not_smallest"],
            one["whole"], f"{one['seconds']:.2f}", f"{one['longest']:.1f}",
        )
        for one in made.table("kinds")
    ))  # fmt: skip
