"""Families of indices: labels, offsets and bins, chosen so that threads collide at the same elements.

A family makes `count` indices below `below`. Knows recipes and sizes; it knows no op and no claim.
"""

from collections.abc import Callable

from kfuzz.cases.plans.choose import Choose, one_of
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of

IndexFamily = Callable[[int, int, int], Band]
"""Of count, below, and a seed of 16 bits."""


def anywhere(count: int, below: int, seed: int) -> Band:
    return Band(Base("uniform", bits_of(0.0), bits_of(float(below - 1)), seed))


def all_first(count: int, below: int, seed: int) -> Band:
    return Band()


def all_last(count: int, below: int, seed: int) -> Band:
    return Band(Base("constant", bits_of(float(below - 1))))


def all_equal(count: int, below: int, seed: int) -> Band:
    return Band(Base("constant", bits_of(float(seed % below))))


def in_order(count: int, below: int, seed: int) -> Band:
    """Each index once, if there are as many."""
    return Band(Base("ramp", bits_of(0.0), bits_of(1.0)))


def backwards(count: int, below: int, seed: int) -> Band:
    return Band(Base("ramp", bits_of(float(count - 1)), bits_of(-1.0)))


def first_or_last(count: int, below: int, seed: int) -> Band:
    half = bits_of((below - 1) / 2)
    return Band(Base("sign", half, half, seed))


def mostly_last(count: int, below: int, seed: int) -> Band:
    """Any indices, and at regular distances the last one."""
    first = seed % 4
    last = Edit(first, -1, bits_of(float(below - 1)), every=first + 1)
    return Band(anywhere(count, below, seed).base, (last,))


FAMILIES: tuple[IndexFamily, ...] = (
    *(anywhere, mostly_last, all_first, all_last, all_equal),
    *(in_order, backwards, first_or_last),
)


def indices_recipe(rows: int, cols: int, below: int, choose: Choose) -> Recipe:
    """Indices of one family, or of two that alternate row by row."""
    made = [one_of(choose, FAMILIES)(cols, max(below, 1), choose(0, 0xFFFF)) for _ in range(min(rows, 2))]
    return Recipe(rows, cols, tuple(made))
