"""Say less: a recipe of one band, of constants, of fewer edits."""

from dataclasses import replace

from kfuzz.cases.recipe import Band, Base, Recipe
from kfuzz.minimizing.subject import Candidates, Subject, places_without, simpler_values, widths_below

WORTH = 50


def candidates(subject: Subject) -> Candidates:
    """Recipes that are nothing but a constant, then recipes with something left out."""
    for role in subject.recipes():
        for recipe in _shorter_recipes(subject, role):
            candidate = subject.put(role, recipe)
            if (yield candidate):
                subject = candidate
                break


def _shorter_recipes(subject: Subject, role: str) -> list[Recipe]:
    recipe = subject.recipes()[role]
    bands = recipe.bands[: recipe.rows]
    few = [Band(Base("constant", bits)) for bits in simpler_values(bands[0].base.offset)[:3]]
    found = [replace(recipe, bands=(band,)) for band in (*few, *bands[:8])] if len(bands) > 1 else []
    for width in widths_below(len(bands)):
        for first in range(len(bands) - width, -1, -width):
            left = tuple(bands[place] for place in places_without(len(bands), first, first + width))
            found.append(replace(recipe, bands=left))
    if len(bands) <= 4:
        for place, band in enumerate(bands):
            found += [
                replace(recipe, bands=(*bands[:place], each, *bands[place + 1 :])) for each in _plainer_bands(band)
            ]
    return [*found, replace(recipe, limits=None)] if recipe.limits else found


def _plainer_bands(band: Band) -> list[Band]:
    """A band with one thing less to say about it."""
    edits = band.edits
    found = [Band(band.base, (*edits[:place], *edits[place + 1 :])) for place in range(len(edits))]
    if band.base.kind != "constant":
        found += [Band(Base("constant", bits), edits) for bits in (0, band.base.offset)]
    else:
        found += [Band(Base("constant", bits), edits) for bits in simpler_values(band.base.offset)]
    for place, edit in enumerate(edits):
        others = [edit._replace(bits=bits) for bits in simpler_values(edit.bits)]
        found += [Band(band.base, (*edits[:place], other, *edits[place + 1 :])) for other in others]
    return found
