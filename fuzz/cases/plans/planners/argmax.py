"""The inputs of an op that answers with places: rows full of ties, and rows below a number used for "less than any".

The choice among equals shows only with equals: across lanes, within one lane's elements, and at both ends.
"""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.edges import columns
from kfuzz.cases.plans.families import NAN, at
from kfuzz.cases.plans.rows import MOST_BANDS, rows_and_columns, rows_recipe
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of, mix
from kfuzz.oracle.numbers.layout import Shape

LEVELS = (0.0, -1.0, -6e4, -2e9, -3e38, 1e4)
"""Levels of a row; most are below a number from which kernels start their search."""


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Rows of few values, or one time in two the hostile rows of any op."""
    rows, cols = rows_and_columns(wanted["x"])
    if once_in(choose, 2):
        return {"x": rows_recipe(ground, rows, cols, choose)}
    seed, edges = choose(0, 0xFFFF), columns(cols, ground.widths) or (0,)
    bands = [tie(mix(seed, row), cols, edges) for row in range(max(1, min(rows, MOST_BANDS)))]
    if ground.kernel.special.nan and once_in(choose, 2):  # several in a row: they are equals as well
        first = choose(0, len(bands) - 1)
        bands[first] = Band(bands[first].base, tuple(Edit(col, col, NAN) for col in {edges[0], edges[-1], cols // 2}))
    return {"x": Recipe(rows, cols, tuple(bands))}


def tie(bits: int, cols: int, edges: tuple[int, ...]) -> Band:
    """A row of two or of sixteen values, or one whose maximum occurs at two or three places."""
    level = LEVELS[bits % len(LEVELS)]
    step = max(abs(level) * 2.0**-6, 1.0)
    few = Base(("sign", "integer", "normal")[bits // 8 % 3], bits_of(level), bits_of(step), bits >> 8 & 0xFFFF)
    if bits // 64 % 2:
        return Band(few)
    top = level + 64 * step if level else 64.0
    places = [
        edges[(bits >> shift) % len(edges)] if bits >> shift & 1 else (bits >> shift) % cols for shift in (9, 17, 25)
    ]
    return Band(few, tuple(at(place, top) for place in places[: 2 + bits // 128 % 2]))
