"""Plans a trial's input from the claim alone: launch parameters, sizes, and hostile values for each role.

A `Choose` makes every decision: a handful of choices whatever the size, the first of each the simplest.
Knows claims and planners; it knows no runs and no right answers.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from math import prod

import numpy as np

from kfuzz.cases.case import Case, Values, case_for
from kfuzz.cases.plans import planners
from kfuzz.cases.plans.choose import Choose, once_in, one_of
from kfuzz.cases.plans.edges import floats
from kfuzz.cases.plans.families import NAN, NEG_INF, POS_INF
from kfuzz.cases.plans.finite_numbers import promised_finite, with_finite_numbers
from kfuzz.cases.plans.home import home_of
from kfuzz.cases.plans.indices import indices_recipe
from kfuzz.cases.plans.large import large_size
from kfuzz.cases.plans.narrow_rows import recipe_of_role
from kfuzz.cases.plans.noise_rows import with_noise
from kfuzz.cases.plans.rows import plain_rows, put_in_one_place, rows_and_columns, rows_in_parts
from kfuzz.cases.plans.scale import BUDGET, WORK, Large
from kfuzz.cases.plans.sizes import Ground, choose_sizes, fixed_elements, ground_of, keep_budget, make_allowed
from kfuzz.cases.plans.structures import draw_integers, draw_mask
from kfuzz.cases.plans.text_sizes import Edge, edge_size
from kfuzz.cases.plans.vast import Rung, make_vast_inputs, vast_size
from kfuzz.cases.recipe import Band, Recipe, bits_of
from kfuzz.claims.kernel import Kernel
from kfuzz.common.printable import print_repr
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.enclosure import FLT_MAX
from kfuzz.oracle.numbers.layout import Shape
from kfuzz.oracle.op.axis_orders import ArrayViews
from kfuzz.oracle.op.independence import independent_dimensions
from kfuzz.oracle.op.role import is_scale
from kfuzz.oracle.op.shapes import lengths_of, limit_of
from kfuzz.oracle.op.spelling import name_in

FEW_ROWS = 4
OFTEN_IN_PARTS, IN_PARTS, HOSTILE = 1, 2, 3
"""Which of four trials of an answer of more rows; the first one has plain numbers, and OFTEN_IN_PARTS mostly."""
PLAIN_WINDOWS = 2
"""Of so many trials of a convolution one chooses among the four: the others show what large numbers lose."""
ODD_WINDOWS = 2
"""Of so many of these that are not hostile one has -inf or NaN in one place, and all answers elsewhere are finite."""
ODD_TRIALS = 8
"""Of so many trials one has infinities or NaNs in the inputs in which the maker of a problem's inputs has none: what
follows from them is no error, and it hides what follows from numbers that are as large.
"""
MANY_NUMBERS = 1 << 16
"""From so many terms on, n roundings of 2^-24 are more than 1 / sqrt(n), by which the means of plain noise differ."""
HOSTILE_IF_MANY = 4
"""Of as many trials of MANY_NUMBERS one remains hostile: a trial takes minutes, and of infinities it shows little."""
Planner = Callable[[Ground, Mapping[str, Shape], Choose], dict[str, Recipe]]


@dataclass(frozen=True, repr=False)
class Attempt:
    """A case for a kernel, and the launch parameters to try it with."""

    case: Case
    tune: Mapping[str, int]
    rung: Rung | None = None

    def __repr__(self) -> str:
        return f"<Attempt {' '.join([str(self.case), *(f'{name}={value}' for name, value in self.tune.items())])}>"

    _repr_pretty_ = print_repr


def plan(
    kernel: Kernel, choose: Choose, budget: int = BUDGET, work: int = WORK, large: Large | None = None,
    edge: Edge | None = None,
) -> Attempt:  # fmt: skip
    """A case that the claim admits, of the size that `plans.sizes` chooses, or `plans.large`.

    `edge`: the turn of a trial whose size is beside a number in the text.
    """
    budget += fixed_elements(kernel)
    found = large_size(kernel, large, choose) if large else None
    if edge is not None:
        found = found or edge_size(kernel, edge, choose, budget, work)
    ground, axes = make_allowed(*(found or choose_sizes(kernel, choose, budget, work)), choose)
    if not found and axes != home_of(kernel):
        axes = keep_budget(ground, axes, budget)
    return Attempt(case_for(kernel, _arrays(ground, axes, choose)), ground.tune)


def plan_rung(kernel: Kernel, rung: Rung, choose: Choose) -> Attempt | None:
    """A case of a size near a power of two; None if the claim admits none that can be tried."""
    found = vast_size(kernel, rung, choose)
    if found is None:
        return None
    axes, tune = found
    return Attempt(case_for(kernel, make_vast_inputs(kernel, input_shapes(kernel, axes))), tune, rung)


def plan_at(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], choose: Choose) -> Attempt:
    """A case of just this size."""
    return Attempt(case_for(kernel, _arrays(ground_of(kernel, tune), axes, choose)), tune)


def plan_like(case: Case, kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> Attempt | None:
    """A case of just this size, whose numbers are those of another case, repeated along each axis.

    It shows a bug for rare values at this size as well: a minimum that begins at 1e4 wants all numbers above it. None
    for arrays that cannot be repeated: a structure belongs to its size, and vast arrays are never filled.
    """
    wanted = input_shapes(kernel, axes)
    is_kept = all(case.arrays[role].shape == wanted[role] for role in kernel.roles.structures)
    if case.is_vast or not is_kept or not all(array.size for array in case.arrays.values()):
        return None
    return Attempt(case_for(kernel, {role: repeat_to(one, wanted[role]) for role, one in case.arrays.items()}), tune)


def repeat_to(array: Values, shape: Shape) -> Values:
    """An array of this shape: the given one, repeated along each axis as often as it takes."""
    found = array.reshape((*(1 for _ in shape), *array.shape)[-len(shape) :])
    for axis, many in enumerate(shape):
        found = np.take(found, np.arange(many) % found.shape[axis], axis)
    return found


def takes_any_number(kernel: Kernel) -> bool:
    """Whether every input is plain numbers: no indices, and no inputs made for each other."""
    return planner_of(kernel.op) is every_role_by_rows and not kernel.finite and kernel.value_range is None


def input_shapes(kernel: Kernel, axes: Mapping[str, int]) -> dict[str, Shape]:
    """The shape of the array of every input role."""
    read = {array.reads: array.shape for array in kernel.arrays.values() if array.reads}
    return {role: tuple(size(axes) for size in read[role]) for role in kernel.roles.inputs}


@cache
def planner_of(op: str) -> Planner:
    """The planner of an op, found in the folder; without one, rows for every role."""
    name = name_in(op)
    if name not in {module.name for module in pkgutil.iter_modules(planners.__path__)}:
        return every_role_by_rows
    found: Planner = importlib.import_module(f"{planners.__name__}.{name}").recipes
    return found


def every_role_by_rows(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Hostile rows for every role; codes and scales where the kernel reads them.

    An answer of a reference or of a convolution may take hundreds of rows: some would be infinite or NaN, and so would
    every answer. So its arrays are plain now and then, or differ from part to part.
    """
    roles, op = ground.kernel.roles, ground.kernel.op
    made_here = [role for role in wanted if not roles.integers.get(role) and role not in roles.structures]
    plain: list[str] = []
    if ground.kernel.reference or multiplies_windows(op):
        is_whole = find(op).is_whole
        free = [role for role in made_here if not (role in roles.grids and is_scale(role))]
        plain = [role for role in free if is_whole or rows_of_an_answer(op, role, wanted[role]) > FEW_ROWS]
    may_be_plain = plain and (ground.kernel.reference or once_in(choose, PLAIN_WINDOWS))
    kind = choose(0, HOSTILE) if may_be_plain else HOSTILE
    most = max((answers_and_numbers(op, role, wanted[role])[1] for role in plain), default=0)
    if kind == HOSTILE and most >= MANY_NUMBERS and not once_in(choose, HOSTILE_IF_MANY):
        kind = IN_PARTS
    odd_role = one_of_windows(ground, plain, choose) if kind != HOSTILE else None

    def recipe_of(role: str) -> Recipe:
        if role not in plain or kind == HOSTILE:
            return recipe_of_role(ground, role, wanted, choose)
        answers, numbers = answers_and_numbers(op, role, wanted[role])
        if kind == IN_PARTS or (kind == OFTEN_IN_PARTS and numbers >= MANY_NUMBERS):
            recipe = rows_in_parts(answers, numbers, choose)
        else:
            recipe = plain_rows(*rows_and_columns(wanted[role]), choose, floats(ground.kernel.source))
        if role != odd_role:
            return recipe
        return put_in_one_place(recipe, NAN if ground.kernel.finite else one_of(choose, (NEG_INF, NAN)), choose)

    return {role: recipe_of(role) for role in made_here}


def one_of_windows(ground: Ground, roles: Sequence[str], choose: Choose) -> str | None:
    """The role that gets an infinity or a NaN in one place, in one of ODD_WINDOWS trials of a convolution."""
    floating = [role for role in roles if role not in ground.kernel.roles.grids]
    if not floating or not multiplies_windows(ground.kernel.op) or not once_in(choose, ODD_WINDOWS):
        return None
    return one_of(choose, floating)


@cache
def multiplies_windows(op: str) -> bool:
    """Whether an op multiplies parts of two arrays of four dimensions or more, as convolutions do."""
    return sum(len(one.dimensions) > 3 for one in find(op).inputs.values()) > 1


def rows_of_an_answer(op: str, role: str, shape: Shape) -> int:
    """How many rows of an input one answer takes: the lengths of its dimensions that are not independent."""
    module = find(op)
    apart = set.intersection(*map(set, independent_dimensions(module).values()))
    return prod(n for d, n in zip(module.inputs[role].dimensions[:-1], shape, strict=False) if d not in apart)


def answers_and_numbers(op: str, role: str, shape: Shape) -> tuple[int, int]:
    """An input as rows of which each is in one answer: the lengths of its first dimensions that are independent."""
    module = find(op)
    apart = set.intersection(*map(set, independent_dimensions(module).values()))
    lead = list(takewhile(apart.__contains__, module.inputs[role].dimensions))
    return prod(shape[: len(lead)]), prod(shape[len(lead) :])


def _arrays(ground: Ground, axes: Mapping[str, int], choose: Choose) -> dict[str, Recipe | Values]:
    """A recipe for every input role, within the claim; plain values for arrays of three dimensions and structures."""
    given = input_shapes(ground.kernel, axes)
    views = input_views(ground.kernel.op)
    lengths = {role: view.lengths(given[role]) for role, view in views.items()}
    wanted = given | {role: view.shape(lengths[role]) for role, view in views.items()}
    found = with_noise(ground.kernel, planner_of(ground.kernel.op)(ground, wanted, choose), choose)
    narrow = {str(one.reads): one.element.name for one in ground.kernel.arrays.values() if one.element.is_narrow}
    recipes = {
        role: replace(_within_claim(ground.kernel, recipe), element=narrow.get(role, recipe.element))
        for role, recipe in found.items()
    }
    integers = _integers(ground, axes, {role: shape for role, shape in wanted.items() if role not in recipes}, choose)
    recipes |= {role: one for role, one in integers.items() if isinstance(one, Recipe)}
    whole: dict[str, Recipe | Values] = {role: in_shape(one, wanted[role]) for role, one in recipes.items()}
    whole |= {role: one for role, one in integers.items() if not isinstance(one, Recipe)}
    elements = {str(one.reads): one.element for one in ground.kernel.arrays.values() if one.element.is_float}
    promised = ground.kernel.always_finite
    if not promised and (named := promised_finite(ground.kernel)):
        promised = () if once_in(choose, ODD_TRIALS) else named
    for role in promised:
        if role in whole and role in elements and not elements[role].is_narrow:
            whole[role] = with_finite_numbers(whole[role], elements[role])
    for role, view in views.items():
        if view.is_other:
            made = whole[role]
            array = made.values if isinstance(made, Recipe) else made
            whole[role] = view.to_kernel(array.reshape(wanted[role]), lengths[role])
    return whole


def in_shape(recipe: Recipe, shape: Shape) -> Recipe | Values:
    """A recipe of rows and columns as it is, plain values for any other shape."""
    is_as_wanted = len(shape) < 3 and (recipe.rows, recipe.cols) == rows_and_columns(shape)
    return recipe if is_as_wanted else recipe.values.reshape(shape)


def _integers(
    ground: Ground, axes: Mapping[str, int], wanted: Mapping[str, Shape], choose: Choose
) -> dict[str, Recipe | Values]:  # fmt: skip
    """Masks, integers with a structure and integers below a bound, for the roles that no planner has made."""
    roles, made = ground.kernel.roles, dict[str, Recipe | Values]()
    given = input_shapes(ground.kernel, axes)
    placed = (pair for role, shape in given.items() for pair in zip(roles.inputs[role], shape, strict=False))
    sizes = {**axes, **lengths_of(placed), **ground.kernel.limits(axes)}
    for role, below in roles.integers.items():
        if role not in wanted:
            continue
        if role in roles.structures:
            made[role] = draw_integers(roles.structures[role], wanted[role], sizes, ground.widths, choose)
        elif role in roles.truths:
            made[role] = draw_mask(wanted[role], choose)
        elif (limit := limit_of(below, sizes)) is not None:
            made[role] = indices_recipe(*rows_and_columns(wanted[role]), limit, choose)
    return made


@cache
def input_views(op: str) -> ArrayViews:
    """How the inputs of an op over other arrays than its own lie in these."""
    views = find(op).views
    return views[0] if views else {}


def _within_claim(kernel: Kernel, recipe: Recipe) -> Recipe:
    """The recipe with its values inside the claim's `range`, and without infinities if the claim is `finite`."""
    low, high = kernel.value_range or (-FLT_MAX, FLT_MAX)
    if kernel.finite:
        stand_in = {NEG_INF: bits_of(low), POS_INF: bits_of(high)}
        recipe = replace(recipe, bands=tuple(_replace_infinities(band, stand_in) for band in recipe.bands))
    if kernel.value_range is None:
        return recipe
    return replace(recipe, limits=(bits_of(low), bits_of(high)))


def _replace_infinities(band: Band, stand_in: Mapping[int, int]) -> Band:
    base = band.base._replace(offset=stand_in.get(band.base.offset, band.base.offset))
    return Band(base, tuple(edit._replace(bits=stand_in.get(edit.bits, edit.bits)) for edit in band.edits))
