"""Right and wrong quantizers, and the tolerances in use elsewhere."""

from statistics import mean

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

RIGHT = """
Hostile rows: ties of the grid times a scale, amax at each place of a group, a power of two, zeros, outliers, tiny and
denormal numbers, in groups of 32 and of 128. The formats are {formats}. "Several" is the share of the codes for which
the oracle admits more than one number, and "not judged" the share beyond the largest number where the claim does not
say what becomes of it."""
WRONG = """
Wrong quantizers on rows of the same kinds. "Round trip 1e-1" compares the dequantized numbers with x, at a relative
1e-1 and 2e-2 of amax; "codes within 1" and "equal codes" compare with the codes of the right kernel. The shares are of
the groups in which the wrong kernel differs. The last row is another right quantizer: x times 1 / scale for a division,
the power of two by its bits for one by its exponent."""


def show(made: Measurement) -> Lines:
    yield from text(RIGHT.format(formats=", ".join(made["formats"])))
    yield from table("lrrrr", ("right quantizer", "elements", "several", "not judged", "accused"), (
        (one["name"], f"{one['elements']:,}", f"{one['several']:.3%}", f"{one['unjudged']:.1%}", f"{one['accused']:,}")
        for one in made.table("right")
    ))  # fmt: skip
    yield from text(
        "The same ways under claims that are not true of them, which have to be accused, 600 rows of e4m3 each:"
    )
    yield from table("lr", ("claim", "accused"), (
        (one["claim"], f"{one['accused']:,}") for one in made.table("untrue")
    ))  # fmt: skip
    yield from text(WRONG)
    names, wrong = made["criteria"], made.table("wrong")
    seen = {name: [one["seen"][name] for one in wrong] for name in names}
    yield from table("lr" + "r" * len(names), ("wrong quantizer", "groups that differ", *names), [
        *((one["bug"], one["groups"], *(f"{one['seen'][name]:.0%}" for name in names)) for one in wrong),
        ("mean", "", *(f"{mean(seen[name]):.1%}" for name in names)),
        (f"seen at all, of {len(wrong)}", "", *(sum(share > 0 for share in seen[name]) for name in names)),
        ("right groups accused", "", *(f"{made['right_accused'][name]:.1%}" for name in names)),
    ])  # fmt: skip
