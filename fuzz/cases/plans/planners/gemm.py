"""The inputs of gemm: matrices that are made for each other, batch after batch, and what is added to them."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.planners.sgemm import PRODUCTS, products
from kfuzz.cases.plans.rows import rows_and_columns, rows_recipe
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.oracle.numbers.elements import F16
from kfuzz.oracle.numbers.layout import Shape

LOST_ONCE_IN, HOSTILE_ONCE_IN = 8, 3
IN_HALVES = tuple(PRODUCTS[form] for form in (0, 1, 2, 3, 5, 8))
"""The patterns with numbers that half precision can represent."""


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Two matrices as for sgemm, with the same b in each batch; the other inputs are small integers, or hostile rows.

    Hostile rows in a and b would make nearly every element of a product infinite or NaN.
    """
    batch, m, k = wanted["a"]
    rows, n = batch * m, wanted["b"][-1]
    if once_in(choose, LOST_ONCE_IN):  # each product is lost beside the first, though their sum is not
        lost, one = bits_of(0.98 * 2.0**-24), bits_of(1.0)
        found = {
            "a": Recipe(rows, k, (Band(Base("constant", lost), (Edit(0, 0, one),)),)),
            "b": Recipe(batch * k, n, (Band(Base("constant", one)),)),
        }
    else:
        is_half = any(array.element is F16 for array in ground.kernel.arrays.values() if array.reads in ("a", "b"))
        found = products(ground, (rows, k, n), choose, IN_HALVES if is_half else PRODUCTS)
        found["b"] = replace(found["b"], rows=batch * k)
    for role in ("c0", "bias"):
        if role in wanted and once_in(choose, HOSTILE_ONCE_IN):
            found[role] = rows_recipe(ground, *rows_and_columns(wanted[role]), choose)
        elif role in wanted:
            whole = Base("integer", bits_of(0.0), bits_of(1.0), choose(0, 0xFFFF))
            found[role] = Recipe(prod(wanted[role][:-1]), wanted[role][-1], (Band(whole),))
    return found
