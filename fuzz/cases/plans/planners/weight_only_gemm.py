"""The inputs of a product with narrow weights: x of ordinary size, codes and scales; now and then hostile rows in x.

Hostile rows would make nearly every element of a product infinite or NaN.
"""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.narrow_rows import recipe_of_role
from kfuzz.cases.plans.rows import MOST_BANDS, rows_and_columns
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of, mix
from kfuzz.oracle.numbers.layout import Shape

HOSTILE_ONCE_IN = 8


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Rows of x that are normal numbers, small integers, or 0 but for one element."""
    made = {role: recipe_of_role(ground, role, wanted, choose) for role in wanted}
    if not once_in(choose, HOSTILE_ONCE_IN):
        rows, cols = rows_and_columns(wanted["x"])
        seed = choose(0, 0xFFFF)
        bands = tuple(_row(mix(seed, row), cols) for row in range(max(1, min(rows, MOST_BANDS))))
        made["x"] = Recipe(rows, cols, bands)
    return made


def _row(bits: int, cols: int) -> Band:
    seed, place = bits & 0xFFFF, (bits >> 24) % max(cols, 1)
    kinds = (
        Band(Base("normal", 0, bits_of(1.0), seed)),
        Band(Base("integer", 0, bits_of(1.0), seed)),
        Band(Base(), (Edit(place, place, bits_of(1.0)),)),
        Band(Base("uniform", bits_of(0.5), bits_of(1.0), seed)),
    )
    return kinds[bits >> 16 & 3]
