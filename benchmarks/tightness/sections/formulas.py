"""How tight the bounds of formulas are, and which planted bugs they find."""

from statistics import mean

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, largest, long_table, table, text

OPS = (
    "op, format", "rows", "not judged", "bound / largest error", "bound / error: median", "99th percentile", "outside",
)  # fmt: skip
MEANS = ("n", "order", "bound / error: median", "99th percentile")
TIGHT = """
How many times as wide as the error is the bound? The kernels are simulated: every form, format and order of addition,
under the claim that fits it and under a claim that leaves all counts out, and a few kernels that follow no formula.
"Bound / largest error" divides by the error of each answer's worst element, and is the median over the answers. The
next two columns are over all elements with an error; many of these errors are tiny, so the ratios are large. For
comparison, V-ABFT reports bounds of 7 to 20 times the error in f32, and of 48 to 158 times in bf16."""
BUGS = """
Each rule's share is that of the rows it calls wrong among the rows on which the bug shows, that is, on which a bit of
the answer differs from the correct kernel's. On a *plain* row some element lies beyond the answers of eight correct
kernels, which add in other orders and whose functions have other errors; on the other rows no rule can be certain.
"Declared" is a claim with the additions of every sum, and with the error of every function as it was measured on a
GPU. Where the shares are lowest, tighter errors would change nothing: if a row is large, an eps outside the root moves
it by less than the error of its own sum, and if one key has nearly all the weight, neither a scale that is off by 1e-3
nor narrow weights show beyond the error of the scores."""


def show(made: Measurement) -> Blocks:
    every = made.table("ops")
    yield from heading("How tight")
    yield from text(TIGHT)
    wide = largest(every, lambda one: (one["outside"], one["least"] or 0))
    yield from long_table("lrrrrrr", OPS, every, show_op, wide, "those of the widest bounds by their largest error")
    yield from text(
        f"{sum(one['rows'] for one in every)} rows, {sum(one['outside'] for one in every)} of them outside."
    )
    yield from heading("Running means at mean 0")
    yield from text("A variance by Welford's or Chan's method, of 200 rows of n normal numbers with the mean 0.")
    yield from table("rlrr", MEANS, (
        (one["n"], one["order"], *(show_number(one[name]) for name in ("median", "far")))
        for one in made.table("means")
    ))  # fmt: skip
    yield from heading("Planted bugs")
    yield from text(BUGS)
    yield from show_bugs(made)
    yield from text(f"{made['seconds']:.0f} s, {made['processes']} processes.")


def show_op(one: Record) -> tuple[object, ...]:
    ratios = (show_number(one[name]) for name in ("least", "median", "far"))
    return (one["name"], one["rows"], f"{one['unjudged']:.2%}", *ratios, one["outside"])


def show_bugs(made: Measurement) -> Blocks:
    """The shares of each bug, their means, and the right rows that each rule accuses."""
    rules, bugs = made["criteria"], made.table("bugs")
    places = range(len(rules))
    columns = ("op, format", "rows on which a bug shows", *rules, "plain rows", "and joint")
    total = [
        ("mean", "", *(f"{mean(one['caught'][at] for one in bugs):.0%}" for at in places), "",
         f"{mean(one['seen'] for one in bugs):.0%}"),
        ("right rows accused", f"of {made['right']}", *made["accused"], "", ""),
    ]  # fmt: skip
    yield from long_table(
        "l" + "r" * (len(rules) + 3), columns, bugs, show_bug, largest(bugs, lambda one: -one["seen"]),
        "those of which kfuzz sees least", total,
    )  # fmt: skip


def show_bug(one: Record) -> tuple[object, ...]:
    shares = (f"{share:.0%}" for share in one["caught"])
    return (one["name"], one["rows"], *shares, one["plain"], f"{one['seen']:.0%}")


def show_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
