"""Sizes beyond 2^31 elements, where an index that is an int overflows: which kernels can be tried there, and at what.

Blocks that have nothing to do with one another can be run a few at a time: what each accesses is the same in a whole
grid. Knows claims and the text of kernels; never what a kernel accesses.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import permutations
from math import prod

from kfuzz.cases.case import Values
from kfuzz.cases.recipe import Band, Edit, Recipe, bits_of
from kfuzz.claims.kernel import Kernel, Shape, shapes_of, steps_of
from kfuzz.devices import ClaimError, is_host
from kfuzz.devices.vast import INT_COUNTS, KINDS, LEAST, unfilled
from kfuzz.search.choose import Choose, one_of
from kfuzz.search.large import additions, most_blocks
from kfuzz.sources.cuda_text import blanked
from kfuzz.sources.headers import sources

MARGIN = INT_COUNTS // 32
"""So many elements lie beyond 2^31: some of the last blocks have no others."""
MOST_ADDITIONS = 1 << 20
"""Of one thread: what a block does in a second or two, also on a card."""
OF_EACH_ROW = 1 << 15
"""Elements of a row, where the claim allows: enough that 2^31 of them are no more rows than a grid may have in y."""
TURNS = tuple(Band(edits=(Edit(0, -1, bits_of(1.0), every=2 + kind),)) for kind in range(KINDS))
"""The rows of `in_turns`, for arrays that are small enough to be filled."""
TOGETHER = re.compile(
    r"\batomic\w+\s*\(|\b__threadfence\w*|\bvolatile\b|\b__ldc[vg]\b|\bgrid_group\b|\bthis_grid\b|<<<|"
    r"^\s*(?:static\s+|extern\s+)*__(?:device__|managed__)\b[^(){}]*[;=\[{]",
    re.MULTILINE,
)
"""Words of kernels whose blocks wait for one another, or leave one another something."""


def vast_size(kernel: Kernel, choose: Choose) -> tuple[dict[str, int], dict[str, int]] | None:
    """Axes with which an array of the op has more elements than an int counts, and a launch; None where none has."""
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
            shapes = shapes_of(kernel, sizes)
            is_large = max(map(prod, shapes.values())) > INT_COUNTS and kernel.admits(axes)
            if (
                is_large
                and len(steps_of(kernel, sizes, shapes)) == 1
                and additions(kernel, axes, tune) <= MOST_ADDITIONS
            ):
                every.append((axes, tune))
        except ClaimError:
            continue
    return one_of(choose, every) if every else None


def is_by_block(kernel: Kernel) -> bool:
    """Whether blocks have nothing to do with one another: no scratch, and nothing in the text that joins them."""
    arrays = kernel.arrays.values()
    if any(not (array.reads or array.writes) or (array.fill and array.fill.bits) for array in arrays):
        return False
    texts = [one.text for one in sources(kernel.path, kernel.source, kernel.flags)]
    lo, hi = kernel.value_range or (0.0, 1.0)
    is_joined = any(map(is_host, kernel.entries)) or any(TOGETHER.search(blanked(text)) for text in texts)
    return lo <= 0.0 and hi >= 1.0 and not is_joined


def arrays_in_turns(kernel: Kernel, shapes: Mapping[str, Shape]) -> dict[str, Recipe | Values]:
    """The inputs of these shapes: rows of 0 and 1 in turns, huge ones unfilled; whole numbers are 0."""
    made = dict[str, Recipe | Values]()
    for role, shape in shapes.items():
        bands = (Band(),) if role in kernel.roles.integers else TURNS
        small = Recipe(shape[0], prod(shape[1:]), bands)
        if prod(shape) >= LEAST:
            made[role] = unfilled(shape)
        else:
            made[role] = small if len(shape) < 3 else small.values.reshape(shape)
    return made


def _candidates(kernel: Kernel, wanted: int) -> Iterator[dict[str, int]]:
    """Sizes at which two axes make more than 2^31 elements, the others small; one as near to `wanted` as may be."""
    for many, few in permutations(reversed(kernel.axes), 2):
        axes = {name: axis.near(axis.lo + 1) for name, axis in kernel.axes.items()}
        axes[few] = kernel.axes[few].near(wanted)
        axes[many] = kernel.axes[many].near((INT_COUNTS + MARGIN) // max(1, axes[few]) + 1)
        yield axes
        square = int((INT_COUNTS + MARGIN) ** 0.5) + 1
        yield {**axes, many: kernel.axes[many].near(square), few: kernel.axes[few].near(square)}
