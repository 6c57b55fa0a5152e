"""A trial's input, planned from the claim alone: launch parameters, sizes, and an array of hostile rows for each role.

Everything is decided through a `Choose`: a handful of choices whatever the size, the first of each the simplest.
Knows claims, edges and families; never how a kernel is run or what the right answer is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Literal

from fuzz.case import Case, case_of
from fuzz.chooser import Choose, one_of, seldom
from fuzz.claim import Axis
from fuzz.edges import PRIMES, SMALL, STEPS, TIMES, columns, tuned_widths, widths
from fuzz.families import FLT_MAX, NEG_INF, POS_INF, ROWS, Row, with_nan, with_pos_inf
from fuzz.kernel import MOST_TUNES, Kernel
from fuzz.recipe import Band, Base, Edit, Recipe, bits_of, mix
from fuzz.states import MEETINGS, merge_inputs, totals, with_empty

Large = Literal["rows", "elements"]
BUDGET = 1 << 16
"""Elements of one trial's inputs and outputs, unless more are asked for."""
LEAST_CAP = 256
FEW_THREADS, MANY_THREADS = 1 << 12, 1 << 15
"""Threads of one trial: mostly few, so that many trials fit a second; a block with its own edges is within both."""
MANY = 1 << 16
MOST_BANDS = 80
MOST_ROWS = 160
UNCLAIMED_ONCE_IN = 32


@dataclass(frozen=True)
class Attempt:
    """A case for a kernel, and the launch parameters to try it with."""

    case: Case
    tune: Mapping[str, int]


@dataclass(frozen=True)
class Ground:
    """One launch configuration of a kernel, and the widths in which it may divide its work."""

    kernel: Kernel
    tune: Mapping[str, int]
    widths: tuple[int, ...]
    tuned: tuple[int, ...]


def plan(kernel: Kernel, choose: Choose, budget: int = BUDGET, large: Large | None = None) -> Attempt:
    """A case that the claim admits, with at most about `budget` elements.

    `large`: more rows, or more elements, than 16 bits can count, where the claim has so many.
    """
    tune = {name: one_of(choose, values) for name, values in kernel.tune.items()}
    if large:
        tune = _most_blocks(kernel) if large == "rows" else {name: min(values) for name, values in kernel.tune.items()}
    ground = Ground(kernel, tune, widths(kernel, tune), tuned_widths(tune))
    axes = _many(ground, large, choose) if large else _axes(ground, choose, budget)
    return Attempt(case_of(kernel.op, _arrays(ground, axes, choose)), tune)


def shapes(kernel: Kernel, axes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of the array of every input role."""
    read = {array.reads: array.shape for array in kernel.arrays.values() if array.reads}
    return {role: tuple(size(axes) for size in read[role]) for role in kernel.roles.inputs}


def elements(kernel: Kernel, axes: Mapping[str, int]) -> int:
    """How many values a case of this size has, inputs and outputs of the op together."""
    known = kernel.sizes(axes, {name: values[0] for name, values in kernel.tune.items()})
    used = [array for array in kernel.arrays.values() if array.reads or array.writes]
    return sum(prod(size(known) for size in array.shape) for array in used)


def threads(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many threads all launches together have, which is what a trial costs where threads are simulated."""
    sizes = kernel.sizes(axes, tune)
    chosen = [launch for launch in kernel.launches if launch.when is None or launch.when(sizes)]
    return sum(prod(size(sizes) for size in (*launch.grid, *launch.block)) for launch in chosen)


def _axes(ground: Ground, choose: Choose, budget: int) -> dict[str, int]:
    """Sizes for all axes, the last one first: a row's length matters more than how many rows there are."""
    cap = min(budget, LEAST_CAP << choose(0, 9))
    workers = MANY_THREADS if seldom(choose, 8) else FEW_THREADS
    axes = {name: axis.lo for name, axis in ground.kernel.axes.items()}
    row = row_axis(ground.kernel)
    left = len(axes)
    for name in reversed(list(axes)):
        most = _most(ground, axes, name, cap, workers)
        if left > 1 and not seldom(choose, 2):
            most = max(ground.kernel.axes[name].lo, int(most ** (1 / left)))
        axis = ground.kernel.axes[name]
        axes[name] = (_rows if name == row else _size)(choose, axis, ground, most)
        left -= 1
    return axes


def row_axis(kernel: Kernel) -> str | None:
    """The axis that counts rows which have nothing to do with one another, where there is one."""
    first = next(array.shape for array in kernel.arrays.values() if array.reads)
    if kernel.roles.takes_vector and len(first) == 2 and first[0].text in kernel.axes:
        return first[0].text
    return None


def _most(ground: Ground, axes: Mapping[str, int], name: str, cap: int, workers: int) -> int:
    """The largest size of an axis, the others as they are, within so many elements and so many threads."""
    kernel = ground.kernel
    lo = kernel.axes[name].lo
    hi = min(kernel.axes[name].hi, max(cap, lo))
    held, more = (elements(kernel, {**axes, name: size}) for size in (lo, lo + 1))
    if more > held:  # nearly always elements grow evenly with a size, and this guess is the answer
        hi = min(hi, lo + max(0, cap - held) // (more - held))

    def fits(size: int) -> bool:
        tried = {**axes, name: size}
        return elements(kernel, tried) <= cap and threads(kernel, tried, ground.tune) <= workers

    if lo == hi or fits(hi):
        return hi
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if fits(middle) else (lo, middle)
    return lo


def _size(choose: Choose, axis: Axis, ground: Ground, most: int) -> int:
    """A size up to `most`: any one, small ones likelier; or one that is small, prime or last; or near a width."""
    form = choose(0, 3)
    if form == 0:
        top = min(most, (1 << choose(1, max(1, most.bit_length()))) - 1)
        size = choose(axis.lo, max(axis.lo, top))
    elif form == 1:
        size = one_of(choose, (*SMALL, *PRIMES, axis.hi - 1, axis.hi))
    elif form == 2 and ground.tuned:
        size = one_of(choose, TIMES[:2]) * one_of(choose, ground.tuned) + one_of(choose, STEPS[:3])
    else:
        size = one_of(choose, TIMES) * one_of(choose, ground.widths) + one_of(choose, STEPS)
    return _fit(axis, max(axis.lo, min(size, most)))


def _rows(choose: Choose, axis: Axis, ground: Ground, most: int) -> int:
    """How many rows: few, dozens, or a number at an edge."""
    form = choose(0, 3)
    if form == 3:
        return _size(choose, axis, ground, min(most, 8 * MOST_ROWS))
    top = max(axis.lo, min(most, 4 if form == 0 else MOST_ROWS))
    return _fit(axis, choose(axis.lo, top))


def _fit(axis: Axis, size: int) -> int:
    """The nearest size that the axis admits, at or below where it can be."""
    down = size - size % axis.multiple
    return down if down >= axis.lo else down + axis.multiple


def _most_blocks(kernel: Kernel) -> dict[str, int]:
    """The launch that gives many rows the most blocks, and of these the one of the fewest threads."""
    row = row_axis(kernel) or next(iter(kernel.axes))
    axes = {name: min(axis.hi, MANY) if name == row else axis.lo for name, axis in kernel.axes.items()}
    axes[row] = _fit(kernel.axes[row], axes[row])
    every = [dict(zip(kernel.tune, values, strict=True)) for values in product(*kernel.tune.values())]
    return min(every[:MOST_TUNES], key=lambda tune: (-_blocks(kernel, axes, tune), threads(kernel, axes, tune)))


def _blocks(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    sizes = kernel.sizes(axes, tune)
    return max(prod(size(sizes) for size in one.grid) for one in kernel.launches if not one.when or one.when(sizes))


def _many(ground: Ground, what: Large, choose: Choose) -> dict[str, int]:
    """More than 2^16 rows of a few columns, or more than 2^16 elements in rows of any length."""
    kernel = ground.kernel
    axes = {name: axis.lo for name, axis in kernel.axes.items()}
    row = row_axis(kernel) or next(iter(axes))
    for name, axis in kernel.axes.items():
        if name != row:
            axes[name] = _fit(axis, min(axis.hi, choose(1, 2) if what == "rows" else choose(65, 300)))
    axis = kernel.axes[row]
    wanted = MANY if what == "rows" else -(-MANY // max(1, prod(axes.values()) // max(1, axes[row])))
    axes[row] = _fit(axis, max(axis.lo, min(axis.hi, wanted + choose(1, 64))))
    return axes


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
    inside, widths_ = columns(cols, ground.widths), ground.widths
    for index in range(max(1, min(rows, MOST_BANDS))):
        row = Row(cols, inside, widths_, mix(seed, start - index))
        bands.append(ROWS[(start - index) % len(ROWS)](row))
    if seldom(choose, UNCLAIMED_ONCE_IN) or ground.kernel.special.nan or ground.kernel.special.pos_inf:
        place = choose(0, len(bands) - 1)
        family = with_nan if choose(0, 1) == 0 else with_pos_inf
        bands[place] = family(Row(cols, inside, widths_, mix(seed, place)))
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
    if seldom(choose, 4):
        top, sums = with_empty(tops.bands[0], sums, seed)
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
    a, b = (Band(base._replace(seed=seed + side)) for side, base in enumerate(PRODUCTS[form]))
    bands_a, bands_b = [a], [b]
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

PLANNERS = {"safe_merge": _merge, "merge_all": _merge_all, "transpose": _transpose, "sgemm": _sgemm}
"""Ops whose inputs are no rows of numbers. An op that is not here gets hostile rows for every role."""
