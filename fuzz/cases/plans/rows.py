"""An array of hostile rows: many rows contain all families, one row any of them.

Knows families and the edges of a row; it knows no op and no runs.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from kfuzz.cases.plans.choose import Choose, once_in, one_of
from kfuzz.cases.plans.edges import columns, floats
from kfuzz.cases.plans.families import PLACED, ROWS, RowPlan, with_nan, with_pos_inf
from kfuzz.cases.plans.sizes import Ground, row_axis
from kfuzz.cases.recipe import MAX_EDITS, Band, Base, Edit, Recipe, bits_of, mix
from kfuzz.oracle.numbers.layout import Shape

MOST_BANDS = 80
UNCLAIMED_ONCE_IN, BEYOND_ONCE_IN = 32, 8
PARTS = (2, 3, 4, 8, 16, 64)
SMALL_ONCE_IN, ROOT_OF_EPS = 4, 3e-3
"""Of normal numbers, and of torch's eps of 1e-5: what is added to a variance of 1 hardly shows, whatever it is."""
LARGEST_BEYOND = 1e38
"""Three times this is finite."""


def rows_and_columns(shape: Shape) -> tuple[int, int]:
    """Rows and columns of a shape."""
    return (1, *shape)[-2:] if len(shape) < 2 else (prod(shape[:-1]), shape[-1])  # type: ignore[return-value]  # two


def rows_recipe(ground: Ground, rows: int, cols: int, choose: Choose) -> Recipe:
    """Rows that differ by family: one row is of any family, many rows are of all.

    Row r is a function of start - r, so that Hypothesis can shrink to one row by lowering `start`.
    """
    start, seed = choose(0, len(ROWS) - 1), choose(0, 0xFFFF)
    bands = []
    of_columns, named = columns(cols, ground.widths), floats(ground.kernel.source)

    def row(bits: int) -> RowPlan:
        return RowPlan(cols, of_columns, ground.widths, bits, named)

    for index in range(max(1, min(rows, MOST_BANDS))):
        bands.append(ROWS[(start - index) % len(ROWS)](row(mix(seed, start - index))))
    if len(bands) == 1 and row_axis(ground.kernel) is None and choose(0, 1):
        # A kernel of one row sees one row a trial: half the time it is made of two families.
        other = one_of(choose, PLACED)(row(mix(seed, len(ROWS))))
        bands[0] = bands[0]._replace(edits=(*bands[0].edits, *other.edits)[:MAX_EDITS])
    is_claimed = ground.kernel.special.nan or ground.kernel.special.pos_inf
    if once_in(choose, UNCLAIMED_ONCE_IN if not is_claimed else 2 if len(bands) == 1 else 1):
        place = choose(0, len(bands) - 1)
        family = with_nan if choose(0, 1) == 0 else with_pos_inf
        bands[place] = family(row(mix(seed, place)))
    return Recipe(rows, cols, tuple(bands))


def plain_rows(rows: int, cols: int, choose: Choose, named: Sequence[float] = ()) -> Recipe:
    """Rows of numbers of one size, no two of them alike: small integers, whose sums are exact, or normal ones.

    Now and then all numbers lie beyond one at which a kernel may begin a maximum or a minimum: 0, 1e4, or one that is
    named in its text; or they are so small that an eps counts.
    """
    seed, is_whole = choose(0, 0xFFFF), choose(0, 2) == 0
    base = Base("integer" if is_whole else "normal", bits_of(0.0), bits_of(1.0))
    if not is_whole and seed % SMALL_ONCE_IN == 1:
        base = base._replace(scale=bits_of(ROOT_OF_EPS))
    if once_in(choose, BEYOND_ONCE_IN):
        least = min(2 * abs(one_of(choose, (0.5, 1e4, *named))), LARGEST_BEYOND)
        base = Base("uniform", bits_of(least if choose(0, 1) == 0 else -2 * least), bits_of(least))
    bands = (Band(base._replace(seed=mix(seed, row) & 0xFFFF)) for row in range(min(rows, MOST_BANDS)))
    return Recipe(rows, cols, tuple(bands))


def rows_in_parts(rows: int, cols: int, choose: Choose) -> Recipe:
    """Rows of which each part has other numbers: a mean over some parts is then far from that over all.

    The bound of a sum of n terms in any order is n roundings, a quarter of the whole for four million terms, and the
    means of parts of plain noise are nearer than that. Each part has a different small number, or one alone is not 0,
    or one half is 1 and the other -1.
    """
    seed, has_noise = choose(0, 0xFFFF), choose(0, 1) == 0
    base = Base("sign", bits_of(0.0), bits_of(0.25)) if has_noise else Base()
    bands = []
    for row in range(max(1, min(rows, MOST_BANDS))):
        bits = mix(seed, row)
        parts, first = PARTS[bits % len(PARTS)], bits >> 16
        ends = [cols * part // parts for part in range(parts + 1)]
        kind = bits >> 14 & 3 if parts <= MAX_EDITS else 0
        if kind == 0:
            values = {first % parts: 1.0 + 2 * (first >> 8 & 1)}
        elif kind == 1:
            values = {part: float((first + 3 * part) % 8) for part in range(parts)}
        else:
            values = {part: 1.0 if (part + first) % parts < (parts + 1) // 2 else -1.0 for part in range(parts)}
        spans = ((ends[part], ends[part + 1] - 1, value) for part, value in values.items())
        edits = tuple(Edit(low, high, bits_of(value), "add") for low, high, value in spans if low <= high)
        bands.append(Band(base._replace(seed=bits & 0xFFFF), edits))
    return Recipe(rows, cols, tuple(bands))


def put_in_one_place(recipe: Recipe, bits: int, choose: Choose) -> Recipe:
    """The recipe with these bits in one place: one of its bands has them in one column."""
    place, column = choose(0, len(recipe.bands) - 1), choose(0, max(recipe.cols - 1, 0))
    band = recipe.bands[place]
    edits = (*band.edits[: MAX_EDITS - 1], Edit(column, column, bits))
    return replace(recipe, bands=(*recipe.bands[:place], band._replace(edits=edits), *recipe.bands[place + 1 :]))
