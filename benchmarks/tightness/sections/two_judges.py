"""Rows judged by float64 and by balls, and those on which they differ."""

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, largest, long_table, table, text
from benchmarks.tightness.judged_twice import ANSWERS, BALLS_ALONE, FLOAT64_ALONE

COLUMNS = (
    "op, type", "rows judged", "kept", "broken", "joint clash", f"broken {FLOAT64_ALONE}", f"broken {BALLS_ALONE}",
    "a joint clash for one", "undecided", "widest",
)  # fmt: skip


def show(made: Measurement) -> Blocks:
    ops = sorted(made.table("ops"), key=lambda one: str(one["name"]))
    every = add_up("all", ops)
    yield from text(
        f"{every['rows judged']:,} rows were judged twice, {every['input rows']:,} rows of inputs with",
        f"{len(ANSWERS)} answers each: {made['core seconds'] / 60:.0f} minutes of one core. Float64 refuses",
        f"{every[f'broken {FLOAT64_ALONE}']:,} rows that balls allow. It keeps {every[f'broken {BALLS_ALONE}']:,} rows",
        f"that balls refuse; in {every[f'just inside: broken {BALLS_ALONE}']:,} of them the answer was put at the very",
        "end of what float64 allows, which lies outside of that of the balls by float64's own error.",
        f"Of {every['ends']:,} ends of float64 {every['ends of float64 inside']:,} lie inside of those of the balls.",
        f"Of {every['exact values']:,} exact values, worked out by an op's definition to {made['bits']} bits without",
        f"anything of the oracle, {every['exact values outside']:,} lie outside of what float64 allows.",
        f"{made['failed']:,} cases could not be judged.",
    )
    yield from text(
        "'Widest' is the most by which an end of float64 lies outside of that of the balls, in places of the answer's",
        "type: the chance of an answer between the two. It is large where a difference cancels: a place near 0 is",
        "tiny, and float64 errs by 2^-53 of what was subtracted.",
    )
    yield from made.note()
    apart = largest(ops, lambda one: [one[f"broken {who}"] for who in (FLOAT64_ALONE, BALLS_ALONE)])
    yield from long_table(
        "lrrrrrrrrr", COLUMNS, ops, _cells, apart, "those on which the two judges differ most", [_cells(every)]
    )
    yield from heading("By answer")
    yield from text(
        "'Right' is the number nearest to the exact value, or what a simulated kernel writes: one of a quantizer",
        "does not follow each claim. The others have one element in each row at the last number inside, at the first",
        "outside, or further out, by up to 2^24 places, or another number, infinity or NaN.",
    )
    wanted = ("judged", "broken", f"broken {FLOAT64_ALONE}", f"broken {BALLS_ALONE}")
    yield from table("lrrrr", ("answer", "rows judged", "broken in float64", *wanted[2:]), (
        (kind, *(f"{every[f'{kind}: {what}']:,}" for what in wanted)) for kind in ANSWERS
    ))  # fmt: skip
    yield from heading("By length")
    lengths = sorted(int(name.partition("^")[2]) for name in every if str(name).startswith("rows of 2^"))
    yield from table("rr", ("elements of a row", "rows judged"), (
        (f"{1 << k} to {(2 << k) - 1}", f"{every[f'rows of 2^{k}']:,}") for k in lengths
    ))  # fmt: skip


def _cells(one: Record) -> tuple[object, ...]:
    clashes = sum(one[f"joint clash {who}"] for who in (FLOAT64_ALONE, BALLS_ALONE))
    counts = (
        one["rows judged"], one["kept by both"], one["broken for both"], one["joint clash for both"],
        one[f"broken {FLOAT64_ALONE}"], one[f"broken {BALLS_ALONE}"], clashes, one["undecided"],
    )  # fmt: skip
    return (one["name"], *(f"{count:,}" for count in counts), f"{one['widest']:.1g}")


def add_up(name: str, some: list[Record]) -> Record:
    """The sums of some ops; what none of them counted is 0."""
    keys = {key for one in some for key in one} - {"name", "widest"}
    sums = {key: sum(one.get(key) or 0 for one in some) for key in keys}
    return {"name": name, **sums, "widest": max((one["widest"] for one in some), default=0.0)}
