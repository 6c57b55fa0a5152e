"""How often the threads of a launch loop over an array, and at which size they begin another turn.

A loop's second turn shows wrong strides, carried states and lost rescalings; a kernel with a thread for each element
never takes it. Knows claims and numbers; it knows no values, and not what a loop does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.expression import ExpressionError, ceil_div
from kfuzz.claims.language.launches import Launch
from kfuzz.devices import ClaimError


@dataclass(frozen=True)
class Loop:
    """One launch, and an array that it is given."""

    launch: Launch
    array: str


def loops(kernel: Kernel) -> tuple[Loop, ...]:
    """Every launch, except of host functions, with each of its arrays of variable size; one array for each shape."""
    found: dict[tuple[object, ...], Loop] = {}
    for launch in (one for one in kernel.launches if not one.on_host):
        for name in (arg for arg in launch.args if arg in kernel.arrays):
            shape = kernel.arrays[name].shape
            if any(size.names for size in shape):
                found.setdefault((launch.grid, launch.block, shape), Loop(launch, name))
    return tuple(found.values())


def number_or_zero(kernel: Kernel, counted: Callable[[], int]) -> int:
    """A number that depends on sizes; 0 if `where` excludes them and an expression of the claim has no value there."""
    try:
        return counted()
    except (ClaimError, ExpressionError):
        if not kernel.where:
            raise
        return 0


def elements_per_thread(kernel: Kernel, loop: Loop, sizes: Mapping[str, int]) -> int:
    """How many elements of the array there are for each thread of the launch, rounded up."""
    threads = prod(size(sizes) for size in (*loop.launch.grid, *loop.launch.block))
    return ceil_div(prod(size(sizes) for size in kernel.arrays[loop.array].shape), max(1, threads))


def least_size(kernel: Kernel, loop: Loop, tune: Mapping[str, int], wanted: int, lo: int, hi: int) -> int | None:
    """The least size from lo to hi of a kernel's only axis with so many turns; None if even hi has fewer."""
    (axis,) = kernel.axes

    def enough(size: int) -> bool:
        return (
            number_or_zero(kernel, lambda: elements_per_thread(kernel, loop, kernel.sizes({axis: size}, tune)))
            >= wanted
        )

    if not enough(hi):
        return None
    while lo < hi:  # turns grow with the size; in an odd claim this finds one place where they do
        middle = (lo + hi) // 2
        lo, hi = (lo, middle) if enough(middle) else (middle + 1, hi)
    return hi
