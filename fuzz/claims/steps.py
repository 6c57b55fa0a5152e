"""Launches as numbers, within the limits that all CUDA GPUs share.

Knows the limits of a launch; never what it computes.
"""

from collections.abc import Mapping
from math import prod

from kfuzz.claims.language.arguments import ClaimedArrays
from kfuzz.claims.language.expression import Expression
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.launches import Launch
from kfuzz.claims.language.reading import Sizes, at, evaluate
from kfuzz.devices import Step
from kfuzz.devices.limits import BLOCK_MAX, C_INT_BYTES, CLUSTER_MAX, GRID_MAX, SHARED_MAX, THREADS_MAX
from kfuzz.devices.tensors import contiguous_layout
from kfuzz.oracle.numbers.plural import plural

LaunchSize = tuple[int, int, int]
"""x, y and z of a grid or a block."""


def is_chosen(front: FrontMatter, launch: Launch, sizes: Sizes) -> bool:
    """Whether the launch's `when` holds."""
    return launch.when is None or bool(evaluate(front, (*launch.keys.launch, "when"), launch.when, sizes))


def step_of(
    front: FrontMatter, launch: Launch, arrays: ClaimedArrays, sizes: Sizes, shapes: Mapping[str, tuple[int, ...]]
) -> Step:
    """The launch at these sizes; a tensor is passed as its array and its shape."""
    key = launch.keys.launch
    block = sides_of(front, (*key, "block"), launch.block, BLOCK_MAX, sizes)
    if prod(block) > THREADS_MAX:
        found = f"{plural(prod(block), 'thread')} {at(sizes)}; a block has at most {THREADS_MAX}"
        raise front.error((*key, "block"), found)
    shared = evaluate(front, (*key, "shared"), launch.shared, sizes)
    if not 0 <= shared <= SHARED_MAX:
        raise front.error((*key, "shared"), f"{plural(shared, 'byte')} {at(sizes)}; a block has 0 to {SHARED_MAX}")
    for arg in launch.args:
        width = launch.widths.get(arg, C_INT_BYTES)
        if arg not in arrays and not -(1 << 8 * width - 1) <= sizes[arg] < 1 << 8 * width - 1:
            found = f"'{arg}' is {sizes[arg]} {at(sizes)}; it is passed as an integer of {8 * width} bits"
            raise front.error((*key, "args"), found)
    grid = sides_of(front, (*key, "grid"), launch.grid, GRID_MAX, sizes)
    return Step(
        entry=launch.entry_for(sizes),
        grid=grid,
        block=block,
        shared=shared,
        cluster=cluster_of(front, launch, grid, sizes),
        cooperative=launch.cooperative,
        args=tuple(one for arg in launch.args for one in handed(arg, launch, arrays, sizes, shapes)),
    )


def cluster_of(front: FrontMatter, launch: Launch, grid: LaunchSize, sizes: Sizes) -> LaunchSize | tuple[()]:
    """The blocks of a cluster along each axis, of which the grid is a multiple."""
    if not launch.cluster:
        return ()
    place = launch.keys.cluster
    cluster = sides_of(front, place, launch.cluster, (CLUSTER_MAX,) * 3, sizes)
    if prod(cluster) > CLUSTER_MAX:
        raise front.error(place, f"{plural(prod(cluster), 'block')} {at(sizes)}; a cluster has at most {CLUSTER_MAX}")
    for axis, blocks, side in zip("xyz", grid, cluster, strict=True):
        if blocks % side:
            found = f"the grid has {blocks} blocks along {axis} {at(sizes)}; it is a multiple of the cluster's {side}"
            raise front.error(place, found)
    return cluster


def handed(
    arg: str, launch: Launch, arrays: ClaimedArrays, sizes: Sizes, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[str | int, ...]:
    """The values passed for one name."""
    if arg not in arrays:
        return (sizes[arg],)
    is_tensor = launch.made is not None and arg in dict(launch.made.tensors)
    return (arg, *contiguous_layout(shapes[arg])) if is_tensor else (arg,)


def sides_of(
    front: FrontMatter, key: KeyPath, written: tuple[Expression, ...], most: LaunchSize, sizes: Sizes
) -> LaunchSize:
    """Three dimensions; a missing one is 1."""
    values = [evaluate(front, key, size, sizes) for size in written]
    for axis, value, limit in zip("xyz", values, most, strict=False):
        if not 1 <= value <= limit:
            raise front.error(key, f"{axis} is {value} {at(sizes)}; it is 1 to {limit}")
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z
