"""The inputs of an attention with narrow keys and values: those of attention as codes, and a scale for each head."""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose
from kfuzz.cases.plans.narrow_rows import recipe_of_role
from kfuzz.cases.plans.planners import attention
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Recipe
from kfuzz.oracle.numbers.layout import Shape

OF_ATTENTION = ("q", "k", "v")


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Queries, keys and values made for each other; scales that differ from head to head."""
    made = attention.recipes(ground, {role: wanted[role] for role in OF_ATTENTION}, choose)
    scales = {role: recipe_of_role(ground, role, wanted, choose) for role in wanted if role not in OF_ATTENTION}
    return {**made, **scales}
