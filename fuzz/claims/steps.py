"""Launches as numbers, within the limits that every CUDA card shares.

Knows the limits of a launch; never what it computes.
"""

from collections.abc import Mapping
from math import prod

from kfuzz.claims.expression import Expression, ExpressionError, show_sizes
from kfuzz.claims.front_matter import FrontMatter, KeyPath
from kfuzz.claims.launches import ClaimedArrays, Launch
from kfuzz.devices import Step

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
GRID_MAX = (INT_MAX, 65535, 65535)
BLOCK_MAX = (1024, 1024, 64)
THREADS_MAX = 1024
SHARED_MAX = 227 * 1024
"""Bytes of dynamic shared memory that a block may opt into, on the cards that allow most."""

Sizes = Mapping[str, int]
LaunchSize = tuple[int, int, int]


def evaluate(front: FrontMatter, key: KeyPath, value: Expression, sizes: Sizes) -> int:
    """The value at these sizes; a ClaimError that names the key where there is none."""
    try:
        return value(sizes)
    except ExpressionError as error:
        raise front.error(key, str(error)) from None


def is_chosen(front: FrontMatter, key: KeyPath, launch: Launch, sizes: Sizes) -> bool:
    """Whether the launch's `when` holds."""
    return launch.when is None or bool(evaluate(front, (*key, "when"), launch.when, sizes))


def step_of(front: FrontMatter, key: KeyPath, launch: Launch, arrays: ClaimedArrays, sizes: Sizes) -> Step:
    """The launch at these sizes."""
    block = dimensions(front, (*key, "block"), launch.block, BLOCK_MAX, sizes)
    if prod(block) > THREADS_MAX:
        found = f"{prod(block)} threads {at(sizes)}; a block has at most {THREADS_MAX}"
        raise front.error((*key, "block"), found)
    shared = evaluate(front, (*key, "shared"), launch.shared, sizes)
    if not 0 <= shared <= SHARED_MAX:
        raise front.error((*key, "shared"), f"{shared} bytes {at(sizes)}; a block has 0 to {SHARED_MAX}")
    for arg in launch.args:
        if arg not in arrays and not INT_MIN <= sizes[arg] <= INT_MAX:
            found = f"'{arg}' is {sizes[arg]} {at(sizes)}; sizes are passed as C ints"
            raise front.error((*key, "args"), found)
    return Step(
        entry=launch.entry_for(sizes),
        grid=dimensions(front, (*key, "grid"), launch.grid, GRID_MAX, sizes),
        block=block,
        shared=shared,
        args=tuple(arg if arg in arrays else sizes[arg] for arg in launch.args),
    )


def dimensions(
    front: FrontMatter, key: KeyPath, written: tuple[Expression, ...], most: LaunchSize, sizes: Sizes
) -> LaunchSize:
    """Three dimensions, of which those left out are 1."""
    values = [evaluate(front, key, size, sizes) for size in written]
    for axis, value, limit in zip("xyz", values, most, strict=False):
        if not 1 <= value <= limit:
            raise front.error(key, f"{axis} is {value} {at(sizes)}; it is 1 to {limit}")
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def at(sizes: Sizes) -> str:
    """`at rows=3 cols=257 threads=32`."""
    return f"at {show_sizes(sizes, sizes)}"
