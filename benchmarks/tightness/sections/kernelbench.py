"""KernelBench's problems: which are judged, how wide the sets are, and whether right answers lie in them."""

from collections import Counter

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

COLUMNS = (
    "level", "problems", "judged", "partly", "not", "not measured", "half width below 1e4 u", "elements", "outside",
    "other ways", "accused",
)  # fmt: skip
STATUSES = ("judged", "partly", "not", "not measured")
BLIND = 1e8
"""A bound of so many u detects no error."""


def show(made: Measurement) -> Blocks:
    problems = made.table("problems")
    yield from text(
        "Each problem is run with a set beside each number, at two sizes. It is *judged* if it has no operation",
        "without a rule, and if nine of ten elements have a set; *partly* if fewer have one. The half width is",
        "the median of a float32 answer, in units of 2^-24 of the element (u). The sizes are smaller; where a",
        "network has many weights, its channels are divided by the number that the table shows. A network has a",
        "batch of at least four images, and at most 16 patches. Models are in train mode, as KernelBench leaves",
        "them. A half width of 1e8 u detects no error. Level 4 takes language models from a hub; here the same",
        "classes of transformers have two layers of 16 features, random weights, and a vocabulary of 61.",
    )
    yield from text(
        "*Other ways* are right answers of the same model, at both sizes and with two sorts of numbers: torch's",
        "own, by its decompositions, with the terms of products and sums in another order and by other formulas, in",
        "wider numbers rounded at the end, and on a GPU if there is one; each in float32, bfloat16 and float16.",
        "*Accused* are those that have an error or a suspect.",
    )
    rows = []
    for level in made.table("levels"):
        some = [one for one in problems if one["name"].startswith(f"{level['level']}/")]
        count = Counter(one["status"] for one in some)
        tight = sum(one["status"] == "judged" and one["width"] is not None and one["width"] < 1e4 for one in some)
        counts = (len(some), *(count[one] for one in STATUSES))
        of_ways = (level.get(one, 0) for one in ("elements", "outside", "compared", "accused"))
        rows.append((level["level"], *counts, tight, *of_ways))
    yield from table("l" + "r" * 10, COLUMNS, rows)
    yield from made.note()
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
