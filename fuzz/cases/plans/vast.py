"""Sizes near powers of two up to 2^32: a ladder, of which each rung is tried once.

Just beyond such a size a number becomes too large for its type: 24 bits of a float or of __mul24, an int or an
unsigned of 32 bits that counts elements or bytes. A few independent blocks can run alone, since each accesses the same
elements as in a whole grid. Knows claims and the text of kernels; it does not know what a kernel accesses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from math import prod

from kfuzz.cases.case import Values
from kfuzz.cases.plans.choose import Choose, one_of
from kfuzz.cases.plans.large import additions, most_blocks
from kfuzz.cases.plans.scale import MOST_ADDITIONS, OF_EACH_ROW
from kfuzz.cases.recipe import Band, Edit, Recipe, bits_of
from kfuzz.claims.blocks import is_by_block
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.arrays import Array
from kfuzz.claims.language.axes import MAX_ELEMENTS
from kfuzz.devices import ClaimError
from kfuzz.devices.memory.vast import KINDS, LATE, LEAST, make_unfilled
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.layout import Shape, slot_count
from kfuzz.oracle.op.shapes import limit_of

POWERS = (16, 20, 23, 24, 29, 30, 31, 32)
"""Their numbers of bits are those of types, and of a float's digits; bytes of four overflow two powers earlier."""
BEYOND = 1 << 14
"""So far beyond: several blocks have no others."""
ELEMENTS = "elements"
ALTERNATING = tuple(
    Band(edits=(Edit((2 + kind - int(LATE[kind])) % (2 + kind), -1, bits_of(1.0), every=2 + kind),))
    for kind in range(KINDS)
)
"""The rows of a vast array (`alternate_rows`), for arrays that are small enough to be filled."""


@dataclass(frozen=True)
class Rung:
    """A size just below or just beyond a power of two: of an axis, or of the largest array in elements."""

    of: str
    power: int
    is_beyond: bool = True

    def __str__(self) -> str:
        return f"{self.of} {'beyond' if self.is_beyond else 'below'} 2^{self.power}"


def rungs(kernel: Kernel) -> tuple[Rung, ...]:
    """The rungs that a claim allows: first those beyond a power of two, where defects begin."""
    if not is_for_rungs(kernel):
        return ()
    most = {name: axis.hi for name, axis in kernel.axes.items()} | {ELEMENTS: prod(a.hi for a in kernel.axes.values())}
    every = [Rung(of, power, is_beyond) for is_beyond in (True, False) for power in POWERS for of in most]
    return tuple(one for one in every if most[one.of] > (1 << one.power) + (BEYOND if one.is_beyond else 0))


def is_for_rungs(kernel: Kernel) -> bool:
    """Whether the kernel's blocks may run alone, and each of its inputs may hold 1: a uniform number is below 1."""
    inputs = find(kernel.roles.op).inputs
    if kernel.roles.structures or kernel.roles.truths:
        return False
    return is_by_block(kernel) and not any(
        inputs[role].is_uniform or inputs[role].is_share for role in kernel.roles.inputs if role in inputs
    )


def vast_size(kernel: Kernel, rung: Rung, choose: Choose) -> tuple[dict[str, int], dict[str, int]] | None:
    """Axes and a launch of this rung; None if there are none."""
    if not is_for_rungs(kernel) or not all(map(may_be_vast, kernel.arrays.values())):
        return None
    most = most_blocks(kernel)
    every = []
    for axes in _candidates(kernel, rung, choose):
        found = kernel.where.near({**axes, **most}, tuple(kernel.tune)) if kernel.where else {**axes, **most}
        if found is None:
            continue
        tune = {name: found[name] for name in kernel.tune}
        try:
            if _is_on_rung(kernel, rung, axes, tune) and additions(kernel, axes, tune) <= MOST_ADDITIONS:
                every.append((axes, tune))
        except ClaimError:
            continue
    return one_of(choose, every) if every else None


def may_be_vast(array: Array) -> bool:
    """Whether a device can fill a vast array of this layout: rows may have a stride, columns not."""
    return not array.slots and (array.layout.stride is None or not array.layout.columns)


def _is_on_rung(kernel: Kernel, rung: Rung, axes: Mapping[str, int], tune: Mapping[str, int]) -> bool:
    """Whether the sizes are allowed, lie on the right side of the rung, and take one launch on vast arrays."""
    sizes = kernel.sizes(axes, tune)
    shapes = kernel.shapes(sizes)
    elements = {name: prod(shape) for name, shape in shapes.items()}
    arrays = {name: kernel.arrays[name] for name in shapes}
    places = {name: slot_count(shapes[name], one.per, one.layout) for name, one in arrays.items()}
    size = max(places.values()) if rung.of == ELEMENTS else axes[rung.of]
    inputs = [name for name, array in arrays.items() if array.reads]
    return (
        (size > 1 << rung.power) == rung.is_beyond
        and (max(elements[name] for name in inputs) >= LEAST or max(elements.values()) > MAX_ELEMENTS)
        and all(elements[name] >= LEAST or places[name] <= MAX_ELEMENTS for name in inputs)
        and max(places.values()) <= 2 << POWERS[-1]
        and kernel.admits(axes)
        and all(limit_of(below, sizes) != 1 for below in kernel.roles.integers.values())  # 1 is not below 1
        and len(kernel.steps(sizes, shapes)) == 1
    )


def make_vast_inputs(kernel: Kernel, shapes: Mapping[str, Shape]) -> dict[str, Recipe | Values]:
    """The inputs of these shapes: alternating rows of 0 and 1, vast arrays unfilled; integers are 0."""
    made = dict[str, Recipe | Values]()
    for role, shape in shapes.items():
        bands = (Band(),) if role in kernel.roles.integers else ALTERNATING
        small = Recipe(shape[0], prod(shape[1:]), bands)
        if prod(shape) >= LEAST:
            made[role] = make_unfilled(shape)
        else:
            made[role] = small if len(shape) < 3 else small.values.reshape(shape)
    return made


def _candidates(kernel: Kernel, rung: Rung, choose: Choose) -> Iterator[dict[str, int]]:
    """Sizes of a rung: one axis is large, or two make many elements together; the others are small."""
    if rung.of != ELEMENTS:
        axes = {name: axis.near(axis.lo + choose(2, 4)) for name, axis in kernel.axes.items()}
        wanted = (1 << rung.power) + (BEYOND + choose(0, 63) if rung.is_beyond else -1 - choose(0, 7))
        yield {**axes, rung.of: kernel.axes[rung.of].near(wanted)}
        return
    strides = [array.layout.stride for array in kernel.arrays.values() if array.layout.stride is not None]
    wanted = (1 << rung.power) * 33 // 32 if rung.is_beyond else (1 << rung.power) - 1
    row = OF_EACH_ROW + choose(0, 7)
    for many, few in permutations(reversed(kernel.axes), 2):
        axes = {name: axis.near(axis.lo + 1) for name, axis in kernel.axes.items()}
        axes[few] = kernel.axes[few].near(row)
        axes[many] = kernel.axes[many].near(wanted // max(1, axes[few]) + rung.is_beyond)
        yield axes
        square = int(wanted**0.5) + rung.is_beyond
        yield {**axes, many: kernel.axes[many].near(square), few: kernel.axes[few].near(square)}
        for stride in strides:
            yield {**axes, many: kernel.axes[many].near(wanted // stride + rung.is_beyond)}
