"""Chooses how large a trial is: launch parameters and sizes around the edges that the claim implies.

Knows claims and edges; it knows no values, runs or right answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from kfuzz.cases.plans import scale
from kfuzz.cases.plans.choose import Choose, once_in, one_of
from kfuzz.cases.plans.counting import elements
from kfuzz.cases.plans.edges import PRIMES, SMALL, STEPS, TIMES, VECTOR, named_numbers, tuned_widths, widths
from kfuzz.cases.plans.home import home_of
from kfuzz.cases.plans.loops import least_size, loops, number_or_zero
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.launches import LaunchVariant

EVEN_ONCE_IN, SQUARE_ONCE_IN, VECTORS_ONCE_IN = 4, 6, 3
"""Trials of a matrix in which no axis is small: in the other trials, two tiles along each axis are rare."""
VARIANT_TRIES = 6
ANOTHER_LAUNCH_ONCE_IN = 2
HOME_ONCE_IN = 8
LARGE_LAUNCH_ONCE_IN = 8
TURNS = (2, 3, 4)


@dataclass(frozen=True)
class Ground:
    """One launch configuration of a kernel, and the widths in which it may divide its work.

    `tuned`: the widths from the launch. `named`: the widths in claim and text that are larger than any small size.
    """

    kernel: Kernel
    tune: Mapping[str, int]
    widths: tuple[int, ...]
    tuned: tuple[int, ...]
    named: tuple[int, ...]


def choose_sizes(kernel: Kernel, choose: Choose, budget: int, work: int) -> tuple[Ground, dict[str, int]]:
    """Launch parameters and sizes that the claim admits, within about so many elements and so much work."""
    if kernel.home and once_in(choose, HOME_ONCE_IN):
        return ground_of(kernel, draw_tune(kernel, choose)), home_of(kernel)
    if len(kernel.axes) == 1 and once_in(choose, 2) and (found := _draw_another_turn(kernel, choose, budget)):
        return found
    ground = ground_of(kernel, draw_small_tune(kernel, choose))
    return ground, _draw_for_variant(ground, choose, budget, work)


def make_allowed(ground: Ground, axes: dict[str, int], choose: Choose) -> tuple[Ground, dict[str, int]]:
    """The nearest sizes that the claim's `where` allows: with this launch, or now and then with another one.

    If there are none nearby, or only far larger ones, it is the known example.
    """
    kernel, where = ground.kernel, ground.kernel.where
    if not where.broken({**axes, **ground.tune}):
        return ground, axes
    sizes, launch = tuple(reversed(kernel.axes)), tuple(kernel.tune)
    orders = [(*launch, *sizes), (*sizes, *launch)]
    if not once_in(choose, ANOTHER_LAUNCH_ONCE_IN):
        orders.reverse()
    most = max(scale.NEARBY, scale.FAR_LARGER * elements(kernel, axes, ground.tune))
    near = (where.near({**axes, **ground.tune}, order) for order in orders)
    found = next((one for one in near if one and elements(kernel, one, one) <= most), where.example)
    return ground_of(kernel, {name: found[name] for name in launch}), {name: found[name] for name in axes}


def keep_budget(ground: Ground, axes: dict[str, int], budget: int) -> dict[str, int]:
    """The sizes, the largest of them halved again and again until the trial is within the budget, as `where` allows.

    The sizes that `where` asks for may be beyond it, and a size that follows from others counts once `where` holds.
    """
    kernel, tune = ground.kernel, ground.tune
    while (many := elements(kernel, axes, tune)) > budget:
        names = sorted(axes, key=axes.__getitem__, reverse=True)
        halved = ({**axes, name: kernel.axes[name].near(axes[name] // 2)} for name in names)
        allowed = (one for one in halved if not kernel.where.broken({**one, **tune}))
        smaller = next((one for one in allowed if elements(kernel, one, tune) < many), None)
        if smaller is None:
            break
        axes = smaller
    return axes


def ground_of(kernel: Kernel, tune: Mapping[str, int]) -> Ground:
    every, tuned = widths(kernel, tune), tuned_widths(kernel, tune)
    return Ground(kernel, tune, every, tuned, tuple(sorted(named_numbers(kernel).intersection(every) - {*SMALL})))


def draw_tune(kernel: Kernel, choose: Choose) -> dict[str, int]:
    return {name: one_of(choose, values) for name, values in kernel.tune.items()}


def draw_small_tune(kernel: Kernel, choose: Choose) -> dict[str, int]:
    """Launch parameters; rarely such as make too many threads for a trial even at the least sizes.

    A million threads for one element take as long as thirty trials, and show nothing.
    """
    least = {name: axis.lo for name, axis in kernel.axes.items()}
    tune = draw_tune(kernel, choose)
    for _ in range(VARIANT_TRIES):
        if threads(kernel, least, tune) <= scale.MANY_THREADS or once_in(choose, LARGE_LAUNCH_ONCE_IN):
            break
        tune = draw_tune(kernel, choose)
    return tune


def _draw_another_turn(kernel: Kernel, choose: Choose, budget: int) -> tuple[Ground, dict[str, int]] | None:
    """A size of the only axis at which the threads of some launch begin another turn, and that launch.

    A kernel with an axis of rows gets there by the widths of its launch, and sees dozens of rows in each trial.
    """
    ((name, axis),) = kernel.axes.items()
    if not loops(kernel):
        return None
    every, first, wanted = loops(kernel), choose(0, len(loops(kernel)) - 1), one_of(choose, TURNS)
    for loop in (*every[first:], *every[:first]):
        for _ in range(VARIANT_TRIES):
            tune = draw_tune(kernel, choose)
            if least_size(kernel, loop, tune, wanted, min(axis.hi, budget), min(axis.hi, budget)) is None:
                continue
            ground = ground_of(kernel, tune)
            most = _largest_size(ground, {name: axis.lo}, name, budget, scale.MANY_THREADS, scale.UNBOUNDED)
            least = least_size(kernel, loop, tune, wanted, axis.lo, most)
            if least is not None:
                size = least + (choose(0, least) if once_in(choose, 4) else one_of(choose, STEPS))
                return ground, {name: axis.near(min(size, most))}
    return None


def _draw_for_variant(ground: Ground, choose: Choose, budget: int, work: int) -> dict[str, int]:
    """Sizes that launch one variant of the kernel, each variant as likely as any other, if a few tries find them."""
    variants = ground.kernel.variants(ground.tune)
    wanted = one_of(choose, variants) if len(variants) > 1 else None
    axes = _draw_axes(ground, choose, budget, work)
    for _ in range(VARIANT_TRIES):
        if wanted is None or _is_variant(ground, wanted, axes):
            break
        axes = _draw_axes(ground, choose, budget, work)
    return axes


def _is_variant(ground: Ground, variant: LaunchVariant, axes: Mapping[str, int]) -> bool:
    return bool(number_or_zero(ground.kernel, lambda: variant.is_chosen(ground.kernel.sizes(axes, ground.tune))))


def fixed_elements(kernel: Kernel) -> int:
    """What a budget does not count: what fixed sizes take of even the smallest case, several times if it is not large.

    Else every case of a product with fixed weights, or of heads of 128 elements, would be the smallest.
    """
    if not any(axis.lo == axis.hi > 1 for axis in kernel.axes.values()):
        return 0
    tune = {name: values[0] for name, values in kernel.tune.items()}
    least = elements(kernel, {name: axis.lo for name, axis in kernel.axes.items()}, tune)
    return (
        0
        if least <= scale.LEAST_CAP
        else least * max(1 + (least <= scale.TWICE_FIXED), min(scale.SEVERAL, scale.MANY_FIXED // least))
    )


def array_elements(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many values all arrays of the kernel have, scratch among them."""

    def count_array_elements() -> int:
        sizes = kernel.sizes(axes, tune)
        return sum(prod(size(sizes) for size in array.shape) for array in kernel.arrays.values())

    return number_or_zero(kernel, count_array_elements)


def threads(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many threads all launches have together: the cost of a trial on the cpu device."""

    def count_threads() -> int:
        sizes = kernel.sizes(axes, tune)
        return sum(launch.threads(sizes) for launch in kernel.launches if launch.is_made(sizes))

    return number_or_zero(kernel, count_threads)


def _draw_axes(ground: Ground, choose: Choose, budget: int, work: int) -> dict[str, int]:
    """Sizes for all axes, the last one first: a row's length matters more than how many rows there are."""
    if len(ground.kernel.axes) > 1 and row_axis(ground.kernel) is None and once_in(choose, EVEN_ONCE_IN):
        return _draw_even_axes(ground, choose, budget, work)
    cap = min(budget, fixed_elements(ground.kernel) + (scale.LEAST_CAP << choose(0, 9)))
    workers = scale.MANY_THREADS if once_in(choose, 8) else scale.FEW_THREADS
    axes = {name: axis.lo for name, axis in ground.kernel.axes.items()}
    row = row_axis(ground.kernel)
    left = len(axes)
    for name in reversed(list(axes)):
        most = _largest_size(ground, axes, name, cap, workers, work)
        if left > 1 and not once_in(choose, 2):
            most = max(ground.kernel.axes[name].lo, int(most ** (1 / left)))
        axis = ground.kernel.axes[name]
        axes[name] = (_draw_rows if name == row else _draw_size)(choose, axis, ground, most)
        left -= 1
    return axes


def _draw_even_axes(ground: Ground, choose: Choose, budget: int, work: int) -> dict[str, int]:
    """Sizes of which none is small: several tiles along every axis, within the budget.

    Now and then all are equal, or all are whole vectors, for which a kernel may take another path.
    """
    axes = ground.kernel.axes

    def all_of(size: int) -> dict[str, int]:
        return {name: axis.near(size) for name, axis in axes.items()}

    most, beyond = 1, budget + 1
    while beyond - most > 1:
        middle = (most + beyond) // 2
        if fits(ground, all_of(middle), budget, scale.MANY_THREADS, work):
            most = middle
        else:
            beyond = middle
    tiles = [width for width in ground.widths if VECTOR < width <= most]
    sizes = {}
    for name in axes:
        size = choose(max(1, most // 4), most)
        if tiles and choose(0, 1):
            width = one_of(choose, tiles)
            size = min(most, width * choose(1, most // width) + one_of(choose, STEPS))
        sizes[name] = all_of(size)[name]
    if once_in(choose, SQUARE_ONCE_IN):
        return all_of(min(sizes.values()))
    whole = VECTOR if once_in(choose, VECTORS_ONCE_IN) else 1
    return {name: axes[name].near(size - size % whole) for name, size in sizes.items()}


def row_axis(kernel: Kernel) -> str | None:
    """The axis that counts independent rows, if there is one."""
    first = next(array.shape for array in kernel.arrays.values() if array.reads)
    if kernel.roles.takes_vector and len(first) == 2 and first[0].text in kernel.axes:
        return first[0].text
    return None


def _largest_size(ground: Ground, axes: Mapping[str, int], name: str, cap: int, workers: int, work: int) -> int:
    """The largest size of an axis within these limits, with the other axes fixed."""
    kernel = ground.kernel
    lo = kernel.axes[name].lo
    hi = min(kernel.axes[name].hi, max(cap, lo))
    held, more = (elements(kernel, {**axes, name: size}, ground.tune) for size in (lo, lo + 1))
    if more > held:  # nearly always elements grow evenly with a size, and this guess is the answer
        hi = min(hi, lo + max(0, cap - held) // (more - held))

    if lo == hi or fits(ground, {**axes, name: hi}, cap, workers, work):
        return hi
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if fits(ground, {**axes, name: middle}, cap, workers, work) else (lo, middle)
    return lo


def fits(ground: Ground, axes: Mapping[str, int], cap: int, workers: int, work: int) -> bool:
    """Whether a trial of this size is within these limits."""
    if elements(ground.kernel, axes, ground.tune) > cap:
        return False
    count = threads(ground.kernel, axes, ground.tune)
    return count <= workers and count * max(axes.values()) <= work


def _draw_size(choose: Choose, axis: Axis, ground: Ground, most: int) -> int:
    """A size up to `most`: any one, small ones likelier; or one that is small, prime, last, named; or near a width."""
    form = choose(0, 3)
    if form == 0:
        top = min(most, (1 << choose(1, max(1, most.bit_length()))) - 1)
        size = choose(axis.lo, max(axis.lo, top))
    elif form == 1 and ground.named and choose(0, 1):
        size = one_of(choose, TIMES[:2]) * one_of(choose, ground.named) + one_of(choose, STEPS[:3])
    elif form == 1:
        size = one_of(choose, (*SMALL, *PRIMES, axis.hi - 1, axis.hi))
    elif form == 2 and ground.tuned:
        width = one_of(choose, ground.tuned)
        size = _draw_times(choose, TIMES[:2], most // width) * width + one_of(choose, STEPS[:3])
    else:
        width = one_of(choose, ground.widths)
        size = _draw_times(choose, TIMES, most // width) * width + one_of(choose, STEPS)
    return axis.near(min(size, most))


def _draw_times(choose: Choose, few: Sequence[int], most: int) -> int:
    """A multiple of a width: a small one, or now and then any."""
    form = choose(0, len(few))
    return few[form] if form < len(few) else choose(1, max(1, most))


def _draw_rows(choose: Choose, axis: Axis, ground: Ground, most: int) -> int:
    """How many rows: few, dozens, or a number at an edge."""
    form = choose(0, 3)
    if form == 3:
        return _draw_size(choose, axis, ground, min(most, 8 * scale.MOST_ROWS))
    top = max(axis.lo, min(most, 4 if form == 0 else scale.MOST_ROWS))
    return axis.near(choose(axis.lo, top))
