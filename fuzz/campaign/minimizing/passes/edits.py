"""Shorten recipes: one band, constants, fewer edits."""

from dataclasses import replace

from kfuzz.campaign.minimizing.subject import Candidates, Subject, places_without, simpler_values, widths_below
from kfuzz.cases.recipe import Band, Base, Recipe

WORTH = 50


def candidates(subject: Subject) -> Candidates:
    """Recipes of one constant, then recipes with one part left out."""
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
    shorter = [replace(recipe, bands=(band,)) for band in (*few, *bands[:8])] if len(bands) > 1 else []
    for width in widths_below(len(bands)):
        for first in range(len(bands) - width, -1, -width):
            left = tuple(bands[place] for place in places_without(len(bands), first, first + width))
            shorter.append(replace(recipe, bands=left))
    if len(bands) <= 4:
        for place, band in enumerate(bands):
            shorter += [
                replace(recipe, bands=(*bands[:place], each, *bands[place + 1 :])) for each in _plainer_bands(band)
            ]
    return [*shorter, replace(recipe, limits=None)] if recipe.limits else shorter


def _plainer_bands(band: Band) -> list[Band]:
    """Bands with one part left out or simpler."""
    edits = band.edits
    plainer = [Band(band.base, (*edits[:place], *edits[place + 1 :])) for place in range(len(edits))]
    if band.base.kind != "constant":
        plainer += [Band(Base("constant", bits), edits) for bits in (0, band.base.offset)]
    else:
        plainer += [Band(Base("constant", bits), edits) for bits in simpler_values(band.base.offset)]
    for place, edit in enumerate(edits):
        others = [edit._replace(bits=bits) for bits in simpler_values(edit.bits)]
        plainer += [Band(band.base, (*edits[:place], other, *edits[place + 1 :])) for other in others]
    return plainer
