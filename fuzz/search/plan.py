"""A trial's input, planned from the claim alone: launch parameters, sizes, and an array of hostile rows for each role.

Everything is decided through a `Choose`: a handful of choices whatever the size, the first of each the simplest.
Knows claims, edges and families; never how a kernel is run or what the right answer is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from kfuzz.cases.case import Case, case_of
from kfuzz.cases.recipe import MAX_EDITS, Band, Base, Edit, Recipe, bits_of, mix
from kfuzz.claims.kernel import Kernel
from kfuzz.search.choose import Choose, one_of, seldom
from kfuzz.search.edges import columns, floats
from kfuzz.search.families import FLT_MAX, NEG_INF, PLACED, POS_INF, ROWS, RowPlan, with_nan, with_pos_inf
from kfuzz.search.large import MANY, Large, large_size
from kfuzz.search.merges import MEETINGS, far_below, merge_inputs, totals, with_empty
from kfuzz.search.sizes import WORK, Ground, row_axis, size_of

BUDGET = 1 << 16
"""Elements of one trial's inputs and outputs, unless more are asked for."""
MOST_BANDS = 80
UNCLAIMED_ONCE_IN = 32


@dataclass(frozen=True)
class Attempt:
    """A case for a kernel, and the launch parameters to try it with."""

    case: Case
    tune: Mapping[str, int]


def plan(kernel: Kernel, choose: Choose, budget: int = BUDGET, work: int = WORK, large: Large | None = None) -> Attempt:
    """A case that the claim admits, of the size that `kfuzz.search.sizes` chooses, or `kfuzz.search.large`."""
    ground, axes = (large and large_size(kernel, large, choose)) or size_of(kernel, choose, budget, work)
    return Attempt(case_of(kernel.op, _arrays(ground, axes, choose)), ground.tune)


def shapes(kernel: Kernel, axes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of the array of every input role."""
    read = {array.reads: array.shape for array in kernel.arrays.values() if array.reads}
    return {role: tuple(size(axes) for size in read[role]) for role in kernel.roles.inputs}


def _arrays(ground: Ground, axes: Mapping[str, int], choose: Choose) -> dict[str, Recipe]:
    """A recipe for every input role: by the op's kind of input, rows unless more is known."""
    wanted = shapes(ground.kernel, axes)
    planner = PLANNERS.get(ground.kernel.op, _every_role_by_rows)
    recipes = planner(ground, wanted, choose)
    return {role: _within_claim(ground.kernel, recipe) for role, recipe in recipes.items()}


def _two(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of a shape."""
    return (1, *shape)[-2:] if len(shape) < 2 else (prod(shape[:-1]), shape[-1])  # type: ignore[return-value]  # two


def _every_role_by_rows(ground: Ground, wanted: Mapping[str, tuple[int, ...]], choose: Choose) -> dict[str, Recipe]:
    return {role: rows_recipe(ground, *_two(shape), choose) for role, shape in wanted.items()}


def rows_recipe(ground: Ground, rows: int, cols: int, choose: Choose) -> Recipe:
    """Rows that differ by family: one row may be any, many rows are all.

    Row r is a function of start - r: a row is kept when it is the only one left and `start` is lowered as much,
    which is how Hypothesis shrinks.
    """
    start, seed = choose(0, len(ROWS) - 1), choose(0, 0xFFFF)
    bands = []
    whole = RowPlan(cols, columns(cols, ground.widths), ground.widths, 0, floats(ground.kernel.source))
    for index in range(max(1, min(rows, MOST_BANDS))):
        bands.append(ROWS[(start - index) % len(ROWS)](replace(whole, bits=mix(seed, start - index))))
    if len(bands) == 1 and row_axis(ground.kernel) is None and choose(0, 1):
        # A kernel of one row sees one row a trial: half the time it is made of two families.
        other = one_of(choose, PLACED)(replace(whole, bits=mix(seed, len(ROWS))))
        bands[0] = bands[0]._replace(edits=(*bands[0].edits, *other.edits)[:MAX_EDITS])
    is_claimed = ground.kernel.special.nan or ground.kernel.special.pos_inf
    if seldom(choose, UNCLAIMED_ONCE_IN if not is_claimed else 2 if len(bands) == 1 else 1):
        place = choose(0, len(bands) - 1)
        family = with_nan if choose(0, 1) == 0 else with_pos_inf
        bands[place] = family(replace(whole, bits=mix(seed, place)))
    return Recipe(rows, cols, tuple(bands))


def _within_claim(kernel: Kernel, recipe: Recipe) -> Recipe:
    """The recipe with its values held to what the claim speaks of: `range`, and no infinities where `finite`."""
    low, high = kernel.value_range or (-FLT_MAX, FLT_MAX)
    if kernel.finite:
        stand_in = {NEG_INF: bits_of(low), POS_INF: bits_of(high)}
        recipe = replace(recipe, bands=tuple(_replaced(band, stand_in) for band in recipe.bands))
    if kernel.value_range is None:
        return recipe
    return replace(recipe, limits=(bits_of(low), bits_of(high)))


def _replaced(band: Band, stand_in: Mapping[int, int]) -> Band:
    base = band.base._replace(offset=stand_in.get(band.base.offset, band.base.offset))
    return Band(base, tuple(edit._replace(bits=stand_in.get(edit.bits, edit.bits)) for edit in band.edits))


def _merge(ground: Ground, wanted: Mapping[str, tuple[int, ...]], choose: Choose) -> dict[str, Recipe]:
    return merge_inputs(wanted["m1"][0], choose(0, MEETINGS - 1), choose(0, 0xFFFF))


def _merge_all(ground: Ground, wanted: Mapping[str, tuple[int, ...]], choose: Choose) -> dict[str, Recipe]:
    (cols,) = wanted["m"]
    seed = choose(0, 0xFFFF)
    tops, sums = rows_recipe(ground, 1, cols, choose), one_of(choose, totals(seed))
    form = choose(0, 7)
    if form > 4:
        top, sums = with_empty(tops.bands[0], sums, seed) if form == 5 else far_below(cols, seed)
        tops = replace(tops, bands=(top,))
    return {"m": tops, "s": Recipe(1, cols, (sums,))}


def _transpose(ground: Ground, wanted: Mapping[str, tuple[int, ...]], choose: Choose) -> dict[str, Recipe]:
    """Every element numbered, so that a misplaced one says where it came from; or any bits, NaN among them."""
    rows, cols = _two(wanted["x"])
    seed = choose(0, 0xFFFFFFFF)
    if seldom(choose, 8):
        return {"x": rows_recipe(ground, rows, cols, choose)}
    return {"x": Recipe(rows, cols, (Band(Base(("counter", "bits")[choose(0, 1)], seed=seed)),))}


def _sgemm(ground: Ground, wanted: Mapping[str, tuple[int, ...]], choose: Choose) -> dict[str, Recipe]:
    """Two matrices made for each other; special values at single places."""
    (m, k), n = wanted["a"], wanted["b"][1]
    form, seed = choose(0, len(PRODUCTS) - 1), choose(0, 0xFFFF)
    is_large = max(m, n, k) > MANY
    a, b = (Band(base._replace(seed=seed + side)) for side, base in enumerate(PRODUCTS[PLAIN if is_large else form]))
    bands_a, bands_b = [a], [b]
    if is_large:  # no two rows alike, and what lies beyond 16 bits counts most: what wraps there must not go under
        beyond = Edit(MANY, -1, bits_of(1e4), "add")
        return {"a": Recipe(m, k, (a._replace(edits=(beyond,)),)), "b": Recipe(k, n, (b,))}
    if form == 0:  # a shifted identity: the product is rows of b, each element numbered
        size = max(1, min(m, MOST_BANDS))
        bands_a = [Band(Base(), (Edit(i % max(k, 1), i % max(k, 1), bits_of(1.0)),)) for i in range(size)]
    elif seldom(choose, 2):  # one k counts more than all the others
        where = one_of(choose, columns(k, ground.widths) or (0,))
        bands_a = [a._replace(edits=(Edit(where, where, bits_of(1e4)),))]
    if seldom(choose, 4):
        bits = one_of(choose, (POS_INF, NEG_INF, 0x7FC00000, 0))
        side, length, rows = ((bands_a, k, m), (bands_b, n, k))[choose(0, 1)]
        where = one_of(choose, columns(length, ground.widths) or (0,))
        first = side[0]
        odd = first._replace(edits=(*first.edits, Edit(where, where, bits)))
        others = max(0, min(rows, MOST_BANDS) - len(side))
        plain = [band._replace(base=band.base._replace(seed=mix(seed, i))) for i, band in enumerate(side[:1] * others)]
        side[:] = [odd, *side[1:], *plain]
        if side is bands_b and choose(0, 1):  # 0 times infinity is NaN, which who leaves out zeros never finds
            first = bands_a[0]
            bands_a[0] = first._replace(edits=(*first.edits, Edit(0, 0, 0)))
    return {"a": Recipe(m, k, tuple(bands_a)), "b": Recipe(k, n, tuple(bands_b))}


def _pattern(kind: str, offset: float = 0.0, scale: float = 1.0) -> Base:
    return Base(kind, bits_of(offset), bits_of(scale))  # type: ignore[arg-type]  # the kinds are written out below


PRODUCTS: tuple[tuple[Base, Base], ...] = (
    (_pattern("constant"), _pattern("ramp", 1.0)),
    (_pattern("integer"), _pattern("integer")),
    (_pattern("normal"), _pattern("normal")),
    (_pattern("constant", 1.0), _pattern("power")),
    (_pattern("sign", 0.1, 1e6), _pattern("uniform", 1.0, 1e-3)),
    (_pattern("power"), _pattern("power")),
    (_pattern("normal", 0.0, 1e15), _pattern("normal", 0.0, 1e15)),
    (_pattern("normal", 0.0, 1e-22), _pattern("normal", 0.0, 1e-20)),
    (_pattern("uniform", 1.0), _pattern("uniform", 1.0)),
    (_pattern("normal", 0.0, 1e-38), _pattern("normal")),
)
"""Pairs of patterns: exact ones first, so that any difference shows; then cancelling, large, denormal ones."""
PLAIN = 2

PLANNERS = {"safe_merge": _merge, "merge_all": _merge_all, "transpose": _transpose, "sgemm": _sgemm}
"""Ops whose inputs are no rows of numbers. An op that is not here gets hostile rows for every role."""
