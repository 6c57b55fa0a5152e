"""Fewer rows, each as long as all rows together: a bug that only many elements show needs at most three rows."""

from dataclasses import replace

from kfuzz.campaign.minimizing.subject import Candidates, Subject
from kfuzz.cases.recipe import Recipe

WORTH = 15
LONGEST = 1 << 20


def candidates(subject: Subject) -> Candidates:
    """Arrays that are too long to be written out, as one, two or three rows, if all have the same rows."""
    recipes = subject.recipes()
    if len({(one.rows, one.cols) for one in recipes.values()}) != 1 or len(recipes) < len(subject.sources):
        return
    if len(subject.axes) != 2:
        return
    for rows in (1, 2, 3):
        shorter = {role: longer_rows(recipe, rows) for role, recipe in recipes.items()}
        if rows < next(iter(subject.axes.values())) and (yield replace(subject, sources=shorter)):
            return


def longer_rows(recipe: Recipe, rows: int) -> Recipe:
    """The recipe with `rows` rows, each with as many elements as the whole array has now."""
    return replace(recipe, rows=rows, cols=min(recipe.elements, LONGEST))
