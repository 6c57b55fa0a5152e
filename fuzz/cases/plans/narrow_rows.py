"""Recipes of arrays for quantizers and for kernels that read codes: codes, scales, and numbers to be quantized.

Knows claims and the families of such rows; it knows no op and no runs.
"""

from collections.abc import Mapping

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.plans.quantizable import GROUPS, GroupPlan, codes_of_row, scales_of_row, with_infinity, with_nan
from kfuzz.cases.plans.rows import MOST_BANDS, UNCLAIMED_ONCE_IN, rows_and_columns, rows_recipe
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Recipe, mix
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import Element
from kfuzz.oracle.numbers.layout import Shape
from kfuzz.oracle.op.role import is_scale

ANY_ROWS_ONCE_IN = 4
"""Trials in which a quantizer gets the hostile rows of any op."""
ALIKE_ONCE_IN = 8
"""Trials in which all rows of groups are of one family, where each group lies in one row."""


def recipe_of_role(ground: Ground, role: str, wanted: Mapping[str, Shape], choose: Choose) -> Recipe:
    """Codes for an array of a narrow type, scales for one with that name, rows of groups for an array to quantize."""
    kernel = ground.kernel
    array = next(one for one in kernel.arrays.values() if one.reads == role)
    rows, cols = rows_and_columns(wanted[role])
    if is_scale(role) and role not in kernel.roles.integers:
        return scales_recipe(array.element, rows, cols, choose, has_nan=says_nan(kernel))
    if role in kernel.roles.grids or array.element.is_narrow:
        return codes_recipe(kernel, array.element, rows, cols, choose)
    grid = grid_written(kernel)
    if grid is None or once_in(choose, ANY_ROWS_ONCE_IN):
        return rows_recipe(ground, rows, cols, choose)
    return groups_recipe(kernel, grid, group_of(ground, wanted, cols), (rows, cols), choose)


def grid_written(kernel: Kernel) -> Element | None:
    """The narrow type of the codes that the kernel writes, if it quantizes."""
    written = (one for one in kernel.arrays.values() if one.writes in kernel.roles.grids)
    return next((one.element for one in written), None)


def group_of(ground: Ground, wanted: Mapping[str, Shape], cols: int) -> int:
    """The columns of a group, or all columns."""
    kernel = ground.kernel
    read = {array.reads: array.shape for array in kernel.arrays.values() if array.reads in wanted}
    axes = {
        size.text: length
        for role, shape in read.items()
        for size, length in zip(shape, wanted[str(role)], strict=False)
        if size.text in kernel.axes
    }
    if axes.keys() != kernel.axes.keys():
        return max(cols, 1)
    given = kernel.scalars_at(kernel.sizes(axes, ground.tune))
    group = given.get("group") or given.get("width") or find(kernel.op).axes.get("group", cols)
    return min(int(group), max(cols, 1)) if not isinstance(group, str) else max(cols, 1)


def _bands(rows: int, choose: Choose, count: int) -> tuple[int, list[int]]:
    """A first family and 64 bits for each row that has a band of its own."""
    start, seed = choose(0, count - 1), choose(0, 0xFFFF)
    return start, [mix(seed, start - index) for index in range(max(1, min(rows, MOST_BANDS)))]


def groups_recipe(kernel: Kernel, grid: Element, group: int, size: tuple[int, int], choose: Choose) -> Recipe:
    """Rows of groups, of all families in turn; NaN and infinity if the claim says what becomes of them.

    Now and then all rows are of one family, and often where a group has several rows: it is zero only if all of them
    are, and beside a huge row no other matters.
    """
    rows, cols = size
    start, bits = _bands(rows, choose, len(GROUPS))
    plans = [GroupPlan(max(cols, 1), group, grid.name, one) for one in bits]
    bands = [GROUPS[(start - index) % len(GROUPS)](plan) for index, plan in enumerate(plans)]
    is_claimed = kernel.rounding.models.quantize.nan is not None
    if once_in(choose, 2 if is_claimed else UNCLAIMED_ONCE_IN):
        place = choose(0, len(bands) - 1)
        bands[place] = (with_nan if choose(0, 2) else with_infinity)(plans[place])
    if once_in(choose, 2 if "height" in find(kernel.op).axes else ALIKE_ONCE_IN):
        bands = [GROUPS[start](plans[0])]
    return Recipe(rows, cols, tuple(bands))


def codes_recipe(kernel: Kernel, element: Element, rows: int, cols: int, choose: Choose) -> Recipe:
    """Rows of finite codes; any codes, NaN among them, if the claim says what becomes of NaN."""
    _, bits = _bands(rows, choose, 8)
    bands = [codes_of_row(element, one) for one in bits]
    if element.nan is not None and once_in(choose, 2 if kernel.special.nan else UNCLAIMED_ONCE_IN):
        place = choose(0, len(bands) - 1)
        bands[place] = Band(bands[place].base._replace(kind="counter", offset=0, scale=0))
    return Recipe(rows, cols, tuple(bands), element=element.name)


def scales_recipe(element: Element, rows: int, cols: int, choose: Choose, has_nan: bool = False) -> Recipe:
    """Rows of scales that differ: where all are 1, a scale that is left out or taken from elsewhere does not show.

    `has_nan`: the claim says what becomes of NaN.
    """
    _, bits = _bands(rows, choose, 5)
    name = element.name if element.is_narrow else Recipe(0, 0).element
    with_nan = has_nan and element.nan is not None
    return Recipe(rows, cols, tuple(scales_of_row(element, one, with_nan) for one in bits), element=name)


def says_nan(kernel: Kernel) -> bool:
    """Whether the claim or its op says what becomes of NaN."""
    return bool(kernel.special.nan or find(kernel.op).special.get("nan"))
