"""The inputs of an attention over pages: those of attention as codes, scales, and pages in some order, or one page."""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose
from kfuzz.cases.plans.narrow_rows import recipe_of_role
from kfuzz.cases.plans.planners import attention
from kfuzz.cases.plans.planners.narrow_kv_attention import OF_ATTENTION
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Recipe, bits_of
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Queries, keys and values made for each other; a table of pages; scales."""
    made = attention.recipes(ground, {role: wanted[role] for role in OF_ATTENTION}, choose)
    (used,), pages = wanted["table"], wanted["k"][1]
    first = choose(0, max(pages - 1, 0))
    step = (1.0, -1.0, 0.0, 3.0)[choose(0, 3)]  # numbers beyond the pages count modulo their number
    made["table"] = Recipe(1, used, (Band(Base("ramp", bits_of(float(first + used)), bits_of(step))),))
    scales = {role: recipe_of_role(ground, role, wanted, choose) for role in ("scale_k", "scale_v")}
    return {**made, **scales}
