"""The inputs of cross_entropy: hostile rows, and labels that are any column, above all the last ones."""

from collections.abc import Mapping

from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.claims.kernel import Shape
from kfuzz.search.choose import Choose
from kfuzz.search.rows import rows_recipe, two
from kfuzz.search.sizes import Ground


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """A label is its number modulo the columns: any, or from some row on the last column."""
    (rows,), cols = wanted["labels"], wanted["x"][-1]
    seed, first = choose(0, 0xFFFF), choose(0, 3)
    any_column = Base("uniform", bits_of(0.0), bits_of(float(max(cols - 1, 0))), seed)
    labels = Band(any_column, (Edit(first, -1, bits_of(float(cols - 1)), every=first + 1),))
    return {"x": rows_recipe(ground, *two(wanted["x"]), choose), "labels": Recipe(1, rows, (labels,))}
