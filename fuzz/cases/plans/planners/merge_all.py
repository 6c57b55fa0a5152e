"""A row of hostile (max, sum) states, the input of merge_all.

A state is (-inf, any sum), which is empty, or a finite maximum and a sum of at least 1.
"""

from collections.abc import Mapping
from dataclasses import replace

from kfuzz.cases.plans.choose import Choose, one_of
from kfuzz.cases.plans.families import NAN, NEG_INF
from kfuzz.cases.plans.rows import rows_recipe
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Maxima of any family with matching sums; some states are empty, or far below and yet most of the sum."""
    (cols,) = wanted["m"]
    seed = choose(0, 0xFFFF)
    tops, sums = rows_recipe(ground, 1, cols, choose), one_of(choose, totals(seed))
    form = choose(0, 7)
    if form > 4:
        top, sums = empty_every_other(tops.bands[0], sums, seed) if form == 5 else far_below(cols, seed)
        tops = replace(tops, bands=(top,))
    return {"m": tops, "s": Recipe(1, cols, (sums,))}


def totals(seed: int) -> tuple[Band, ...]:
    """The sums of a row of states."""
    one, few = Base("constant", bits_of(1.0)), _spread(1.0, 9.0, seed)
    heavy = Edit(seed % 2, -1, bits_of(1e30), every=2)  # whatever its maximum, every other state may count most
    return (Band(one), Band(few), Band(_spread(1.0, 1e6, seed)), Band(_spread(1e30, 1e34, seed)), Band(one, (heavy,)))


def far_below(cols: int, seed: int) -> tuple[Band, Band]:
    """A row of states in which one has the maximum, and the others have nearly all of the sum.

    Half the time they all lie a whole number below it, so that only exp rounds. The maximum comes first, last or in
    between, so that the heavy states are merged into it, or it into them.
    """
    is_whole = seed % 2 == 0
    where = (0, cols - 1, seed % cols)[seed // 128 % 3]
    top = Edit(where, where, bits_of(1.0 if is_whole else 0.7))
    tops = Base("uniform", bits_of(-70.0), bits_of(40.0), seed)
    if is_whole:
        tops = Base("constant", bits_of(-24.0 - seed // 2 % 47))
    return Band(tops, (top,)), Band(Base("constant", bits_of(1e32)), (top._replace(bits=bits_of(1.0)),))


def empty_every_other(tops: Band, sums: Band, seed: int) -> tuple[Band, Band]:
    """A row of states in which every other one is empty, with a meaningless sum."""
    first = seed % 2
    return (
        tops._replace(edits=(*tops.edits, Edit(first, -1, NEG_INF, every=2))),
        sums._replace(edits=(*sums.edits, Edit(first, -1, NAN, every=2))),
    )


def _spread(lo: float, width: float, seed: int) -> Base:
    return Base("uniform", bits_of(lo), bits_of(width), seed)
