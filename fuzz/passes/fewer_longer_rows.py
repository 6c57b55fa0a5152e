"""As many elements in fewer rows: what only many elements show needs no more than two rows."""

from dataclasses import replace

from fuzz.recipe import Recipe
from fuzz.subject import Candidates, Subject

WORTH = 15


def candidates(subject: Subject) -> Candidates:
    """Arrays too long to be written out, as one, two or three rows of the same length in all."""
    recipes = subject.recipes()
    if not recipes or len(recipes) < len(subject.sources) or len(subject.axes) != 2:
        return
    for rows in (1, 2, 3):
        shorter = {role: longer_rows(recipe, rows) for role, recipe in recipes.items()}
        if rows < next(iter(subject.axes.values())) and (yield replace(subject, sources=shorter)):
            return


def longer_rows(recipe: Recipe, rows: int) -> Recipe:
    """The recipe with so many rows and no fewer elements."""
    return replace(recipe, rows=rows, cols=-(-recipe.elements // rows))
