"""Lies at numbers of every size."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text


def show(made: Measurement) -> Lines:
    rows = made.table("verdicts")
    sizes = list(dict.fromkeys(one["size"] for one in rows))
    lies = sum(sum(one["lies"].values()) for one in rows)
    broken = sum(one["lies"]["broken"] for one in rows)
    right = sum(sum(one["right"].values()) for one in rows)
    accused = sum(one["right"]["broken"] + one["right"]["suspect"] for one in rows)
    yield from text(
        "Answers to numbers of a size: of both signs, all equal, two equal ones above all others, and neighbours of",
        "one number. A lie is zeros, NaN, infinity, the input, or the right answer in another order, times 1.02, with",
        f"the other sign, or plus its largest number. {broken:,} of {lies:,} lies are broken, and {accused} of",
        f"{right:,} right answers are accused. Each cell: broken lies of all lies, and how many are not judged.",
    )
    yield from made.note()

    def cell(op: str, way: str, size: float) -> str:
        lies = next(one["lies"] for one in rows if (one["op"], one["way"], one["size"]) == (op, way, size))
        words = f"{lies['broken']} of {sum(lies.values())}"
        return f"{words} ({lies['not judged']})" if lies["not judged"] else words

    pairs = list(dict.fromkeys((one["op"], one["way"]) for one in rows))
    yield from table(
        "ll" + "r" * len(sizes),
        ("op", "by", *(f"{size:g}" for size in sizes)),
        ([op, way, *(cell(op, way, size) for size in sizes)] for op, way in pairs),
    )
