"""The inputs of an append to a cache: each token has a slot of its own, in order, backwards, or from some slot on."""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose
from kfuzz.cases.plans.narrow_rows import recipe_of_role
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Recipe, bits_of
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Distinct slots, if there are as many as tokens; codes in the cache before."""
    made = {role: recipe_of_role(ground, role, wanted, choose) for role in wanted if role != "slot"}
    (tokens,), slots = wanted["slot"], wanted["cache"][0]
    free = max(slots - tokens, 0)
    first = choose(0, free)
    ramps = (Base("ramp", bits_of(first), bits_of(1.0)), Base("ramp", bits_of(first + tokens - 1), bits_of(-1.0)))
    made["slot"] = Recipe(1, tokens, (Band(ramps[choose(0, 1)]),))
    return made
