"""The inputs of argmin: those of argmax with the opposite sign, and now and then as they are."""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.planners import argmax
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Recipe
from kfuzz.oracle.numbers.layout import Shape

AS_THEY_ARE_ONCE_IN = 4
SIGN = 1 << 31


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Rows whose least elements occur several times, and rows above a number used for "more than any"."""
    found = argmax.recipes(ground, wanted, choose)["x"]
    if once_in(choose, AS_THEY_ARE_ONCE_IN):
        return {"x": found}
    return {"x": Recipe(found.rows, found.cols, tuple(map(negate, found.bands)))}


def negate(band: Band) -> Band:
    """The band with the opposite sign."""
    base = band.base._replace(offset=band.base.offset ^ SIGN, scale=band.base.scale ^ SIGN)
    return Band(base, tuple(edit._replace(bits=edit.bits ^ SIGN) for edit in band.edits))
