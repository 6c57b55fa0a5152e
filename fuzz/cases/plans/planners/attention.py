"""The inputs of an attention: scores that are flat, sharp, growing, far below zero, or decided by one key.

Scores that grow from key to key show what a running sum loses, flat ones show what is counted too often, and scores
far below zero show a maximum that starts too high.
"""

import math
from collections.abc import Callable, Mapping
from math import prod

from kfuzz.cases.plans.choose import Choose, once_in, one_of
from kfuzz.cases.plans.edges import WARP, columns
from kfuzz.cases.plans.families import noise_of
from kfuzz.cases.plans.rows import MOST_BANDS, rows_and_columns, rows_recipe
from kfuzz.cases.plans.scale import MANY
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Queries and keys made for each other, values that tell keys apart; now and then hostile rows in one of them."""
    scores, values, places = _scores_and_values(ground, wanted)
    form, seed = choose(0, len(scores) - 1), choose(0, 0xFFFF)
    high = one_of(choose, places) % max(wanted["k"][-2], 1)
    made = scores[form](wanted, seed, high)
    if "v" not in made:
        made["v"] = values[choose(0, len(values) - 1)](wanted["v"], seed + 2, high)
    is_long = max(wanted["q"][-2], wanted["k"][-2]) > MANY
    for role in wanted:
        if role not in made or (not is_long and once_in(choose, 16)):
            made[role] = rows_recipe(ground, *rows_and_columns(wanted[role]), choose)
    return {role: made[role] for role in wanted}


AttentionRecipes = dict[str, Recipe]
Scores = Callable[[Mapping[str, Shape], int, int], AttentionRecipes]
OfKeys = Callable[[Shape, int, int], Recipe]


def _alike(shape: Shape, base: Base, *edits: Edit) -> Recipe:
    """All rows made in the same way."""
    return Recipe(prod(shape[:-1]), shape[-1], (Band(base, edits),))


def _each(shape: Shape, band: Callable[[int], Band]) -> Recipe:
    """The rows of each head by their number, up to MOST_BANDS kinds."""
    kinds = max(1, min(shape[-2], MOST_BANDS))
    return Recipe(prod(shape[:-1]), shape[-1], tuple(band(row) for row in range(kinds)))


def constant(value: float) -> Base:
    return Base("constant", bits_of(value))


def flat(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    """All scores are 0: each key counts as much as any other."""
    return {"q": _alike(wanted["q"], constant(0.0)), "k": _alike(wanted["k"], noise_of(seed))}


def usual(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    return {"q": _alike(wanted["q"], noise_of(seed)), "k": _alike(wanted["k"], noise_of(seed + 1))}


def sharp(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    return {"q": _alike(wanted["q"], noise_of(seed, 0.0, 6.0)), "k": _alike(wanted["k"], noise_of(seed + 1, 0.0, 2.0))}


def growing(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    """Each key scores higher than the one before: a running maximum changes at every key."""
    step = (0.05, 0.5)[seed % 2]
    keys = _each(wanted["k"], lambda row: Band(constant(step * row)))
    return {"q": _alike(wanted["q"], constant(wanted["q"][-1] ** -0.5)), "k": keys}


def falling(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    keys = _each(wanted["k"], lambda row: Band(constant(-0.3 * row)))
    return {"q": _alike(wanted["q"], constant(wanted["q"][-1] ** -0.5)), "k": keys}


def one_key(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    """One key, at an edge of something, outweighs the others together."""
    return _with_one(wanted, high, 9.0 if wanted["k"][-2] <= MANY else 18.0)


def buried(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    """One key scores so far above the others that their values, though large, contribute next to nothing."""
    return {**_with_one(wanted, high, 40.0), "v": _but_one(wanted["v"], high, 6e4, 1.0)}


def _with_one(wanted: Mapping[str, Shape], high: int, score: float) -> AttentionRecipes:
    """All scores are 0 but one key's."""
    keys = _but_one(wanted["k"], high, 0.0, score)
    return {"q": _alike(wanted["q"], constant(wanted["q"][-1] ** -0.5)), "k": keys}


def _but_one(shape: Shape, high: int, usual: float, one: float) -> Recipe:
    """One value in all rows of each head but one. A head is one row of the recipe, its rows one after the other."""
    *heads, count, cols = shape
    edit = Edit(high * cols, high * cols + cols - 1, bits_of(one))
    return Recipe(prod(heads), count * cols, (Band(constant(usual), (edit,)),))


def far_below(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    """All scores are far below any number used for "none so far"; q and k share the size, to fit in 16 bits."""
    root = (5.5, 32.0, 320.0, 1e3)[seed % 4]
    return {"q": _alike(wanted["q"], noise_of(seed, root, 1e-4 * root)), "k": _alike(wanted["k"], constant(-root))}


def masked_start(wanted: Mapping[str, Shape], seed: int, high: int) -> AttentionRecipes:
    """The first keys, a tile or more or all, count nothing: a running maximum is -inf until the others come."""
    every = wanted["k"][-2]
    first = every if seed % 8 == 7 else min((16, 32, 64, high)[seed % 4], every - 1)
    keys = _each(wanted["k"], lambda row: Band(constant(-math.inf) if row < first else noise_of(seed + row)))
    return {"q": _alike(wanted["q"], noise_of(seed, 1.0, 0.1)), "k": keys}


def plain(shape: Shape, seed: int, high: int) -> Recipe:
    return _alike(shape, noise_of(seed))


def numbered(shape: Shape, seed: int, high: int) -> Recipe:
    """Each key has its number."""
    return _each(shape, lambda row: Band(Base("ramp", bits_of(float(row + 1)), bits_of(0.25))))


def nearly_constant(shape: Shape, seed: int, high: int) -> Recipe:
    """The error of a mean of these is as small as their differences, not as large as they are."""
    return _alike(shape, noise_of(seed, 100.0, 1e-3))


def one_large(shape: Shape, seed: int, high: int) -> Recipe:
    """One large value, which shows if a key counts that should count next to nothing."""
    value = (1e4, 6e4, 1e12)[seed % 3]
    return _each(shape, lambda row: Band(constant(value if row == high % MOST_BANDS else 1.0)))


SCORES: tuple[Scores, ...] = (flat, usual, growing, one_key, sharp, far_below, falling, masked_start)
OF_TILES: tuple[Scores, ...] = (usual, growing, one_key, sharp, falling, masked_start, buried, masked_start)
"""For more keys than a warp has lanes: these show what is carried from one tile of keys to the next."""
VALUES: tuple[OfKeys, ...] = (numbered, plain, one_large, nearly_constant)


def _scores_and_values(
    ground: Ground, wanted: Mapping[str, Shape]
) -> tuple[tuple[Scores, ...], tuple[OfKeys, ...], tuple[int, ...]]:
    """The scores and values that show errors at these sizes, and the keys that may be singled out.

    Among more than 2^16 keys, each is smaller than the bound of their sum, unless it is made to count: one beyond 16
    bits. With so many rows, each needs its own q.
    """
    rows, keys = wanted["q"][-2], wanted["k"][-2]
    distinct = (numbered, plain)
    if keys > MANY:
        return (one_key,), distinct, tuple(range(MANY, min(keys, MANY + 64)))
    places = columns(keys, ground.widths) or (0,)
    if rows > MANY:
        return (usual, sharp), distinct, places
    return OF_TILES if keys > WARP else SCORES, VALUES, places
