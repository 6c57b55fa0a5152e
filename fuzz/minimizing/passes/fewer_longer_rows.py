"""Fewer rows, each as long as all of them were: what only many elements show needs no more than two or three rows."""

from dataclasses import replace

from kfuzz.cases.recipe import Recipe
from kfuzz.minimizing.subject import Candidates, Subject

WORTH = 15
LONGEST = 1 << 20


def candidates(subject: Subject) -> Candidates:
    """Arrays too long to be written out, as one, two or three rows."""
    recipes = subject.recipes()
    if not recipes or len(recipes) < len(subject.sources) or len(subject.axes) != 2:
        return
    for rows in (1, 2, 3):
        shorter = {role: longer_rows(recipe, rows) for role, recipe in recipes.items()}
        if rows < next(iter(subject.axes.values())) and (yield replace(subject, sources=shorter)):
            return


def longer_rows(recipe: Recipe, rows: int) -> Recipe:
    """The recipe with so many rows, and in each as many elements as there were in all."""
    return replace(recipe, rows=rows, cols=min(recipe.elements, LONGEST))
