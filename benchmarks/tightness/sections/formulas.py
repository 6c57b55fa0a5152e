"""How tight the bounds of formulas are, and which planted bugs they find."""

from statistics import mean

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, heading, table, text

OPS = (
    "op, format", "rows", "not judged", "bound / largest error", "bound / error: median", "99th percentile", "outside",
)  # fmt: skip
MEANS = ("n", "order", "bound / error: median", "99th percentile", "R12 as it was first derived: median")
TIGHT = """
Simulated kernels of every form, format and order of addition, with the claim that fits them and with the claim that
says nothing, and a few kernels that follow no formula. "Bound / largest error" takes the worst element of each answer,
and the median of these; the other two take all elements with an error, some of which are hardly wrong. For comparison,
from the literature: V-ABFT gives 7 to 20 times the error in f32, 48 to 158 times in bf16."""
BUGS = """
The share of the rows on which a bug shows that each rule calls wrong. A bug shows if a bit of the answer differs
from the correct kernel's. On a plain row some element lies beyond the answers of eight correct kernels, which add
in other orders and whose functions have other errors; on the other rows no rule can be certain. "Declared" is a
claim with every sum's additions, and every function's error as it was measured on a GPU. For the rarest
detections, still tighter errors change nothing: if a row is large, an eps beside the root moves it by less than
the error of its own sum, and if one key has nearly all the weight, neither a scale that is off by 1e-3 nor narrow
weights show beyond the error of the scores."""


def show(made: Measurement) -> Lines:
    every = made.table("ops")
    yield from heading("How tight")
    yield from text(TIGHT)
    yield from table("lrrrrrr", OPS, (
        (one["name"], one["rows"], f"{one['unjudged']:.2%}",
         *(show_number(one[name]) for name in ("least", "median", "far")), one["outside"])
        for one in every
    ))  # fmt: skip
    yield from text(
        f"{sum(one['rows'] for one in every)} rows, {sum(one['outside'] for one in every)} of them outside."
    )
    yield from heading("Running means at mean 0")
    yield from text("A variance by Welford or Chan, 200 rows of N(0, 1).")
    yield from table("rlrrr", MEANS, (
        (one["n"], one["order"], *(show_number(one[name]) for name in ("median", "far", "before")))
        for one in made.table("means")
    ))  # fmt: skip
    yield from heading("Planted bugs")
    yield from text(BUGS)
    yield from show_bugs(made)
    yield from text(f"{made['seconds']:.0f} s, {made['processes']} processes.")


def show_bugs(made: Measurement) -> Lines:
    """The shares of each bug, their means, and the right rows that each rule accuses."""
    rules, bugs = made["criteria"], made.table("bugs")
    places = range(len(rules))
    columns = ("op, format", "rows on which a bug shows", *rules, "plain rows", "and joint")
    yield from table("l" + "r" * (len(rules) + 3), columns, [
        *(
            (one["name"], one["rows"], *(f"{share:.0%}" for share in one["caught"]), one["plain"], f"{one['seen']:.0%}")
            for one in bugs
        ),
        ("mean", "", *(f"{mean(one['caught'][at] for one in bugs):.0%}" for at in places), "",
         f"{mean(one['seen'] for one in bugs):.0%}"),
        ("right rows accused", f"of {made['right']}", *made["accused"], "", ""),
    ])  # fmt: skip


def show_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
