"""KernelBench's problems as formulas: which are judged, and how wide the bounds are."""

from collections import Counter

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

COLUMNS = (
    "level", "problems", "judged", "partly", "not", "not measured", "half width below 1e4 u", "elements", "outside",
)  # fmt: skip
STATUSES = ("judged", "partly", "not", "not measured")
BLIND = 1e8
"""A bound of so many u detects no error."""


def show(made: Measurement) -> Blocks:
    problems = made.table("problems")
    yield from text(
        "A problem is *judged* if its formula has a rule for each operation, and torch's own answers, in float32",
        "and float64 at up to three sizes, lie inside the bounds; *partly* if a tenth of the elements or more",
        "cannot be judged. The half width is the median over a float32 answer, by the first of the formula's forms,",
        "in units of 2^-24 of the element (u). The sizes are smaller than the problem's; where a network has many",
        "weights, its channels are divided by the number that the table shows. A network has a batch of at least",
        "four images, and at most 16 patches. Models are in train mode, as KernelBench leaves them: there a batch",
        "norm magnifies small differences among a few numbers, and the bounds of a deep network of batch norms say",
        "little. A half width of 1e8 u detects no error. Where the rows of a deep formula are independent, two rows",
        "are judged, or one row of large images. Level 4 takes language models from a hub; here the same classes of",
        "transformers have two layers of 16 features, random weights, and a vocabulary of 61.",
    )
    rows = []
    for level in made.table("levels"):
        some = [one for one in problems if one["name"].startswith(f"{level['level']}/")]
        count = Counter(one["status"] for one in some)
        tight = sum(one["status"] == "judged" and one["width"] is not None and one["width"] < 1e4 for one in some)
        counts = (len(some), *(count[one] for one in STATUSES))
        rows.append((level["level"], *counts, tight, level["elements"], level["outside"]))
    yield from table("l" + "r" * 8, COLUMNS, rows)
    yield from heading("Problem by problem")
    yield from long_table(
        "llrrl", ("problem", "status", "half width, u", "channels /", "why"), problems, cells,
        [one for one in problems if one["status"] != "judged" or (one["width"] or 0) >= BLIND],
        "those that are not judged, or whose half width detects no error",
    )  # fmt: skip


def cells(one: Record) -> tuple[object, ...]:
    width = "-" if one["width"] is None else f"{one['width']:.3g}"
    narrower = one["narrower"] if one["narrower"] > 1 else ""
    return (one["name"], one["status"], width, narrower, one["why"].replace("|", "/"))
