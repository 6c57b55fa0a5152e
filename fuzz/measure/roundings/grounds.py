"""The sizes, launches and values with which a kernel's roundings are counted.

Knows claims; never the counts.
"""

import random
import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.plans.edges import named_numbers
from kfuzz.cases.plans.plan import input_shapes
from kfuzz.cases.plans.sizes import row_axis
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.op.independence import independent_dimensions

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, 32, 33, 64, 100, 129, 300, 513, 1025, 2049, 5003)
"""Sizes of the axis along which a kernel adds, in addition to the edges that its text names."""
FEW = (1, 5)
"""Sizes of the other axes."""
MOST_TUNES = 6
DRAWN, LARGEST = 100, 20_000
"""How many other sizes and launches are drawn, and up to which size: a formula must hold between the edges, too."""
MOST_ELEMENTS, MOST_THREADS = 1 << 16, 1 << 15
SEED = 20
ROWS = 3
"""Rows of a case, if it has rows: three orders of values; each at four alignments if the kernel reads vectors."""
VECTORS = re.compile(r"\b(?:float|double|int|uint)[234]\b|\b(?:ld|st)\.[\w.:]*\.v[24]\.")

SizesAndTune = tuple[dict[str, int], dict[str, int]]
"""Axes and tune."""


def grounds(kernel: Kernel) -> Iterator[SizesAndTune]:
    """Sizes and launches to count at: each axis in turn, for some values of tune; then any."""
    seen = set()
    for axes, tune in (*systematic(kernel), *draw_sizes(kernel)):
        key = (*axes.items(), *tune.items())
        if key not in seen and not kernel.where.broken({**axes, **tune}) and not is_too_much(kernel, axes, tune):
            seen.add(key)
            yield axes, tune


def systematic(kernel: Kernel) -> Iterator[SizesAndTune]:
    """Every edge of each axis with few sizes of the others; the number of rows is fixed, since rows are independent."""
    edges = sorted({*SIZES, *(n + step for n in named_numbers(kernel) if n <= max(SIZES) for step in (0, 1))})
    summed = summed_axes(kernel)
    for tune, axis in product(some_tunes(kernel), summed):
        for size, few in product(edges, FEW if len(kernel.axes) > 2 else FEW[:1]):
            if size in kernel.axes[axis]:
                yield (
                    {
                        **{name: nearest_size(kernel, name, few) for name in summed},
                        **rows_beside(kernel, size),
                        axis: size,
                    },
                    tune,
                )


def draw_sizes(kernel: Kernel) -> Iterator[SizesAndTune]:
    """Any sizes and any launch, drawn with a fixed seed; small sizes as often as large ones."""
    draw = random.Random(SEED)  # noqa: S311  drawn for coverage, nothing is kept secret
    summed = summed_axes(kernel)
    for number in range(DRAWN):
        tune = {name: draw.choice(values) for name, values in kernel.tune.items()}
        axes = {name: nearest_size(kernel, name, draw.randint(1, 40)) for name in summed}
        axis = summed[number % len(summed)]
        most = min(kernel.axes[axis].hi, LARGEST)
        axes[axis] = nearest_size(kernel, axis, int(most ** draw.random()))
        yield {**axes, **rows_beside(kernel, axes[axis])}, tune


def summed_axes(kernel: Kernel) -> list[str]:
    """The axes along which a kernel may add; its only one if there is no other."""
    apart = {*apart_axes(kernel), row_axis(kernel)}
    return [name for name in kernel.axes if name not in apart] or list(kernel.axes)


def apart_axes(kernel: Kernel) -> list[str]:
    """Axes whose indices are independent by the op's formula: no input at one index enters the answer at another."""
    op = find(kernel.op)
    named: dict[str, set[str]] = {}  # the claim's names for each dimension of the op
    for array in kernel.arrays.values():
        for _, dimensions in kernel.roles.dimensions(array.reads, array.writes):
            for dimension, size in zip(dimensions, array.shape, strict=False):
                named.setdefault(dimension, set()).add(size.text)
    everywhere = set.intersection(*(set(dimensions) for dimensions in independent_dimensions(op).values()))
    apart = set().union(*(named.get(dimension, set()) for dimension in everywhere))
    summed = set().union(*(names for dimension, names in named.items() if dimension not in everywhere))
    return [name for name in kernel.axes if name in apart - summed]


def rows_beside(kernel: Kernel, size: int) -> dict[str, int]:
    """Sizes of the axes that are not summed: rows or matrices, one for each order of values."""
    rows = row_axis(kernel)
    if rows is None and (apart := apart_axes(kernel)):
        return {name: nearest_size(kernel, name, ROWS if name == apart[0] else 2) for name in apart}
    if rows is None or len(kernel.axes) == 1:
        return {}
    many = ROWS * (4 if VECTORS.search(kernel.source) else 1)
    return {rows: nearest_size(kernel, rows, max(1, min(many, MOST_ELEMENTS // max(1, size))))}


def some_tunes(kernel: Kernel) -> list[dict[str, int]]:
    """All combinations of tune values; if there are many, the first, the last, and some drawn with a fixed seed."""
    every = [dict(zip(kernel.tune, values, strict=True)) for values in product(*kernel.tune.values())]
    if len(every) <= MOST_TUNES:
        return every
    draw = random.Random(SEED)  # noqa: S311  drawn for coverage, nothing is kept secret
    return [every[0], every[-1], *draw.sample(every[1:-1], MOST_TUNES - 2)]


def nearest_size(kernel: Kernel, name: str, size: int) -> int:
    """The size of the axis that is nearest to this one."""
    axis = kernel.axes[name]
    return next((one for one in range(size, size + 4096) if one in axis), axis.lo)


def is_too_much(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], times: int = 1) -> bool:
    """Whether a case has more elements or threads than are worth a run; `times` that many are allowed."""
    if sum(map(prod, input_shapes(kernel, axes).values())) > times * MOST_ELEMENTS:
        return True
    job = kernel.bind(inputs_of(kernel, axes), tune).job
    threads = max(prod(step.grid) * prod(step.block) for step in job.steps) if job.steps else 0
    return sum(prod(buffer.shape) for buffer in job.buffers) > times * MOST_ELEMENTS or threads > times * MOST_THREADS


def inputs_of(kernel: Kernel, axes: Mapping[str, int]) -> dict[str, NDArray[np.float32]]:
    """Values of similar size and one sign, all different: ascending, descending and shuffled rows in turn.

    An online kernel rescales at each step of an ascending row; a kernel that reads from the end, of a descending row.
    """
    draw = np.random.default_rng(SEED)
    return {role: ordered(draw, shape) for role, shape in input_shapes(kernel, axes).items()}


def ordered(draw: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    rows = np.sort(draw.uniform(1, 2, shape).astype(np.float32).reshape(-1, shape[-1]), axis=-1)
    if len(shape) > 2:  # matrices: their rows ascend, descend or do neither, and so do the rows that they compute
        matrices = np.sort(rows.reshape(-1, *shape[-2:]), axis=-2)
        matrices[1::3] = matrices[1::3, ::-1]
        matrices[2::3] = draw.permutation(matrices[2::3], axis=-2)
        return matrices.reshape(shape)
    rows[1::3] = rows[1::3, ::-1]
    rows[2::3] = draw.permuted(rows[2::3], axis=-1)
    return rows.reshape(shape)
