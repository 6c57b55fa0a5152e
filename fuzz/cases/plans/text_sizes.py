"""Sizes beside the numbers that stand in a kernel's text, each of which gets its turn.

Knows claims and edges; it knows no values, runs or right answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from kfuzz.cases.plans.choose import Choose
from kfuzz.cases.plans.edges import LARGEST_WIDTH, SMALL, named_numbers
from kfuzz.cases.plans.scale import MANY_THREADS
from kfuzz.cases.plans.sizes import Ground, draw_small_tune, fits, ground_of, row_axis
from kfuzz.claims.kernel import Kernel

BESIDE = (1, 0, -1)
"""Steps of an axis from a number."""
FEW, FEWER = (3, 8), (8, 3, 2, 1)
"""The other axes' sizes: drawn from this range, and at most these, the first that fits."""
JOINT_NUMBERS, JOINT_FOR_EACH = 6, 2
"""How many numbers of a text are taken in pairs, and how many pairs have a turn for each size that is alone."""


@dataclass(frozen=True)
class Edge:
    """The turn of a trial with a size beside a number in the text: so many had one before, the first at `start`."""

    number: int
    start: int


def edge_size(
    kernel: Kernel, edge: Edge, choose: Choose, budget: int, work: int
) -> tuple[Ground, dict[str, int]] | None:
    """Launch parameters and sizes of which one or two are below, at or above a number in the text.

    None after all turns, or for a size beyond the limits. The other sizes are a few, since one row may hide an error.
    """
    alone, joint = edge_sites(kernel), joint_sites(kernel, edge.start)
    late = edge.number - len(alone)
    if late >= min(len(joint), JOINT_FOR_EACH * len(alone)):
        return None
    sites, number = (alone, edge.number) if late < 0 else (joint, late)
    fixed = sites[(edge.start + number) % len(sites)]
    ground = ground_of(kernel, draw_small_tune(kernel, choose))
    few = {name: choose(*FEW) for name in kernel.axes}
    every = ({name: axis.near(min(few[name], most)) for name, axis in kernel.axes.items()} | fixed for most in FEWER)
    return next(((ground, axes) for axes in every if fits(ground, axes, budget, MANY_THREADS, work)), None)


def edge_sites(kernel: Kernel) -> list[dict[str, int]]:
    """Each axis with each size beside a number in the text that small sizes do not reach."""
    sites = product(BESIDE, _named_sizes(kernel), reversed(_free_axes(kernel)))
    return [one for step, number, name in sites if (one := _site(kernel, {name: (number, step)}))]


def joint_sites(kernel: Kernel, start: int) -> list[dict[str, int]]:
    """Sizes that two numbers in the text decide, of which a seed takes a few.

    Two axes beyond a number each, as in `rows > 48 && cols > 300`; one beyond a number with all others the least, so
    that it is also the number of all elements; and one that is the first beyond a number to be at the edge of a
    multiple of another, as in `cols > 500 && cols % 96 == 95`.
    """
    every, axes = _named_sizes(kernel), _free_axes(kernel)
    first = start % max(len(every), 1)
    named = sorted((*every[first:], *every[:first])[:JOINT_NUMBERS])
    least, rows = {name: axis.lo for name, axis in kernel.axes.items()}, row_axis(kernel)
    found = list[dict[str, int]]()
    for number, name in product(named, reversed(axes)):
        beyond = _site(kernel, {name: (number, 1)})
        found += [least | beyond] if beyond else []
        others = product(named, axes[axes.index(name) + 1 :])
        found += [_site(kernel, {name: (number, 1), other: (second, 1)}) for second, other in others]
        widths = [width for width in named if width < number and name != rows]
        found += [_site(kernel, {name: (number + width - number % width, step)}) for width in widths for step in BESIDE]
    return [one for one in found if one]


def _named_sizes(kernel: Kernel) -> list[int]:
    return sorted(number for number in named_numbers(kernel) if SMALL[-1] < number <= LARGEST_WIDTH)


def _free_axes(kernel: Kernel) -> list[str]:
    return [name for name, axis in kernel.axes.items() if not axis.listed and axis.lo < axis.hi]


def _site(kernel: Kernel, wanted: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """Sizes so many steps of their axis from a number; none at all if the claim excludes one."""
    sizes = dict[str, int]()
    for name, (number, step) in wanted.items():
        by = kernel.axes[name].multiple
        sizes[name] = number - number % by + step * by
    return sizes if all(size in kernel.axes[name] for name, size in sizes.items()) else {}
