"""The inputs of a norm: rows whose mean is huge and whose spread is small, constant ones, and squares that overflow.

A variance by E[x^2] - mean^2 is lost if the mean is large; eps decides if the spread is small, so that a misplaced one
shows only there; n - 1 for n shows in short rows.
"""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.families import noise_of
from kfuzz.cases.plans.rows import MOST_BANDS, rows_and_columns, rows_recipe
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of, mix
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Rows of all these kinds, one after the other, or the hostile rows of any op; weights near 1."""
    rows, cols = rows_and_columns(wanted["x"])
    start, seed = choose(0, len(KINDS) - 1), choose(0, 0xFFFF)
    kinds = [KINDS[(start - row) % len(KINDS)] for row in range(max(1, min(rows, MOST_BANDS)))]
    bands = tuple(Band(*kind(mix(seed, row), cols)) for row, kind in enumerate(kinds))
    made = {"x": Recipe(rows, cols, bands)}
    for role, shape in wanted.items():
        if role != "x":
            plain = Recipe(1, shape[-1], (Band(noise_of(seed + 1, 1.0 if role == "w" else 0.0, 0.5)),))
            made[role] = rows_recipe(ground, *rows_and_columns(shape), choose) if once_in(choose, 8) else plain
    if once_in(choose, 3):
        made["x"] = rows_recipe(ground, rows, cols, choose)
    return {role: made[role] for role in wanted}


NormRow = tuple[Base, tuple[Edit, ...]]


def usual(bits: int, cols: int) -> NormRow:
    return noise_of(bits), ()


def small(bits: int, cols: int) -> NormRow:
    """A spread about as large as the root of eps."""
    return noise_of(bits, 0.0, (3e-3, 1e-3, 1e-4)[bits % 3]), ()


def far_off(bits: int, cols: int) -> NormRow:
    """A mean that is much larger than the spread; of the last, the square is no float, though that of the spread is."""
    mean, spread = ((1e3, 1.0), (-1e4, 4.0), (1e5, 1.0), (3e6, 4.0), (2.5e19, 1e17))[bits % 5]
    return noise_of(bits, mean, spread), ()


def constant(bits: int, cols: int) -> NormRow:
    """Equal elements, whose deviation is 0."""
    return Base("constant", bits_of((1.0, 0.1, -77.7, 1e4, 1e-5)[bits % 5])), ()


def spike(bits: int, cols: int) -> NormRow:
    place = (0, -1, bits // 8 % max(cols, 1))[bits % 3]
    return noise_of(bits), (Edit(place, place, bits_of((50.0, 3e4)[bits // 4 % 2])),)


def wide(bits: int, cols: int) -> NormRow:
    """Halves reach 65504; squares of 1e19 are no float."""
    return noise_of(bits, 0.0, (100.0, 1.8e4, 1e15, 1e19)[bits % 4]), ()


def edges_of_half(bits: int, cols: int) -> NormRow:
    """The largest half, one that rounds to infinity, the least normal one and the least one."""
    return Base("constant", bits_of((65504.0, 65519.0, 6.1e-5, 6e-8)[bits % 4])), (Edit(0, -1, bits_of(0.0), every=2),)


KINDS = (usual, small, far_off, constant, spike, wide, edges_of_half)
