"""How long a run with sets takes."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

COLUMNS = ("reference", "numbers of inputs", "torch's own run, ms", "with sets, ms", "times", "the call alone, ms")


def show(made: Measurement) -> Lines:
    yield from text(
        "To judge by a torch reference, kfuzz runs it with a set beside each number. This is how long such a run takes",
        f"beside torch's own, at small sizes and at those of a problem: {made['median']:.1f} times, in the median.",
        "Both runs copy the inputs first, since a reference may change them; the last column is torch's call without",
        "copies. All in one thread, float32, the least of some runs in turns.",
    )
    yield from made.note()
    yield from table("lrrrrr", COLUMNS, (
        (
            one["name"], f"{one['elements']:,}", f"{1e3 * one['own']:.2f}", f"{1e3 * one['proved']:.2f}",
            f"{one['proved'] / one['own']:.1f}", f"{1e3 * one['call']:.3f}",
        )
        for one in made.table("references")
    ))  # fmt: skip
