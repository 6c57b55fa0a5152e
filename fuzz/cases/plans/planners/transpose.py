"""The input of transpose: any of the 2^32 bit patterns, and numbers that show where each element came from."""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.rows import rows_and_columns, rows_recipe
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Recipe
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Every element numbered, so that a misplaced one shows where it came from; or any bits, NaN among them."""
    rows, cols = rows_and_columns(wanted["x"])
    seed = choose(0, 0xFFFFFFFF)
    if once_in(choose, 8):
        return {"x": rows_recipe(ground, rows, cols, choose)}
    return {"x": Recipe(rows, cols, (Band(Base(("counter", "bits")[choose(0, 1)], seed=seed)),))}
