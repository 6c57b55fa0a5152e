"""The inputs of a product of narrow matrices: codes and scales; now and then all elements are large and of one sign.

Then sums grow as far as they can: beyond 2^24, where a float loses the last digit of an integer, and beyond each term.
A sum that the claim promotes often has terms that are lost beside its first one until it is promoted.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import floor, log2

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.narrow_rows import recipe_of_role
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.oracle.numbers.elements import Element, element_of
from kfuzz.oracle.numbers.layout import Shape
from kfuzz.oracle.numbers.tensor_cores import ADDERS, Adder

GROWING_ONCE_IN, INEXACT_ONCE_IN, PROMOTED_ONCE_IN = 4, 2, 2
FLOAT_EXACT = 1 << 24
"""Up to here a float represents every integer."""


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Codes of every kind, or, every other time if a float rounds their sum, numbers from 4/5 of the largest on."""
    made = {role: recipe_of_role(ground, role, wanted, choose) for role in wanted}
    first, second = (element_of(made[role].element) for role in ("a", "b"))
    is_integer = first.exponent == second.exponent == 0
    can_round = is_integer and made["a"].cols * first.max * second.max > FLOAT_EXACT
    if once_in(choose, INEXACT_ONCE_IN if can_round else GROWING_ONCE_IN):
        for role in ("a", "b"):
            largest = element_of(made[role].element).max
            base = Base("uniform", bits_of(0.8 * largest), bits_of(0.2 * largest), choose(0, 0xFFFF))
            made[role] = Recipe(made[role].rows, made[role].cols, (Band(base),), element=made[role].element)
    model = ground.kernel.rounding.models
    if model.promote and made["a"].cols > model.promote and once_in(choose, PROMOTED_ONCE_IN):
        made["a"] = replace(made["a"], bands=(lost_beside_first(first, ADDERS[model.accumulate]),))
        made["b"] = replace(made["b"], bands=(Band(Base("constant", bits_of(1.0))),))
    return made


def lost_beside_first(element: Element, adder: Adder) -> Band:
    """The largest number of a type, and then the largest of those that the adder cuts to 0 beside it."""
    limit = 2.0 ** (floor(log2(element.max)) - adder.kept)
    lost = max(number for number in element.numbers if number < limit)
    return Band(Base("constant", bits_of(float(lost))), (Edit(0, 0, bits_of(element.max)),))
