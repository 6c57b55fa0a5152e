"""Sizes beyond 2^31 elements, where an index of type int overflows: which kernels can be tried there, and how.

A few independent blocks can run alone, since each accesses the same elements as in a whole grid. Knows claims and the
text of kernels; it does not know what a kernel accesses.
"""

from collections.abc import Iterator, Mapping
from itertools import permutations
from math import prod

from kfuzz.cases.case import Values
from kfuzz.cases.recipe import Band, Edit, Recipe, bits_of
from kfuzz.claims.blocks import is_by_block
from kfuzz.claims.jobs import Shape
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError
from kfuzz.devices.vast import INT_COUNTS, KINDS, LEAST, make_unfilled
from kfuzz.search.choose import Choose, one_of
from kfuzz.search.large import additions, most_blocks
from kfuzz.search.scale import MARGIN, MOST_ADDITIONS, OF_EACH_ROW

TURNS = tuple(Band(edits=(Edit(0, -1, bits_of(1.0), every=2 + kind),)) for kind in range(KINDS))
"""The rows of `in_turns`, for arrays that are small enough to be filled."""


def vast_size(kernel: Kernel, choose: Choose) -> tuple[dict[str, int], dict[str, int]] | None:
    """Axes that give an array of the op more elements than an int can count, and a launch; None if there are none."""
    if not is_by_block(kernel):
        return None
    most = most_blocks(kernel)
    row = choose(0, 7)
    every = []
    for axes in _candidates(kernel, OF_EACH_ROW + row):
        found = kernel.where.near({**axes, **most}, tuple(kernel.tune)) if kernel.where else {**axes, **most}
        if found is None:
            continue
        tune = {name: found[name] for name in kernel.tune}
        try:
            sizes = kernel.sizes(axes, tune)
            shapes = kernel.shapes(sizes)
            is_large = max(map(prod, shapes.values())) > INT_COUNTS and kernel.admits(axes)
            if is_large and len(kernel.steps(sizes, shapes)) == 1 and additions(kernel, axes, tune) <= MOST_ADDITIONS:
                every.append((axes, tune))
        except ClaimError:
            continue
    return one_of(choose, every) if every else None


def arrays_in_turns(kernel: Kernel, shapes: Mapping[str, Shape]) -> dict[str, Recipe | Values]:
    """The inputs of these shapes: alternating rows of 0 and 1, huge arrays unfilled; integers are 0."""
    made = dict[str, Recipe | Values]()
    for role, shape in shapes.items():
        bands = (Band(),) if role in kernel.roles.integers else TURNS
        small = Recipe(shape[0], prod(shape[1:]), bands)
        if prod(shape) >= LEAST:
            made[role] = make_unfilled(shape)
        else:
            made[role] = small if len(shape) < 3 else small.values.reshape(shape)
    return made


def _candidates(kernel: Kernel, wanted: int) -> Iterator[dict[str, int]]:
    """Sizes at which two axes make more than 2^31 elements, the others small; one is near `wanted` if possible."""
    for many, few in permutations(reversed(kernel.axes), 2):
        axes = {name: axis.near(axis.lo + 1) for name, axis in kernel.axes.items()}
        axes[few] = kernel.axes[few].near(wanted)
        axes[many] = kernel.axes[many].near((INT_COUNTS + MARGIN) // max(1, axes[few]) + 1)
        yield axes
        square = int((INT_COUNTS + MARGIN) ** 0.5) + 1
        yield {**axes, many: kernel.axes[many].near(square), few: kernel.axes[few].near(square)}
