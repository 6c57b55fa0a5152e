"""Which sizes a kernel is timed at: those that a person names, or small, wide, tall, long and unaligned ones.

Knows claims; it does not know what the sizes are for.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError

BY_ROW = ((1024, 1024), (8192, 16384), (65536, 1024), (1024, 131072), (65536, 1023))
"""Small, wide, tall, long, unaligned."""
BY_LENGTH = ((1 << 20,), (1 << 24,), (1 << 28,))
SIDE, DEEP = 1024, 32
"""Of more than two axes the last two, and those before them."""


def sizes_of(kernel: Kernel, named: Sequence[tuple[int, ...]]) -> list[dict[str, int]]:
    """The axes that a kernel is timed at; ClaimError where a size that was named does not fit its claim."""
    for size in named:
        if len(size) != len(kernel.axes):
            raise ClaimError(
                f"--size {size_text(size)}: {kernel.name} has {len(kernel.axes)} axes, {', '.join(kernel.axes)}"
            )
    chosen = [dict(zip(kernel.axes, size, strict=True)) for size in named or default_sizes(len(kernel.axes))]
    fitting = [axes for axes in chosen if next(tunes_at(kernel, axes), None) is not None]
    if named and len(fitting) < len(chosen):
        misfit = next(axes for axes in chosen if axes not in fitting)
        raise ClaimError(
            f"--size {size_text(tuple(misfit.values()))}: {kernel.name} does not claim {axes_text(misfit)}"
        )
    return fitting


def default_sizes(axes: int) -> tuple[tuple[int, ...], ...]:
    """The usual sizes for this number of axes."""
    if axes == 1:
        return BY_LENGTH
    return BY_ROW if axes == 2 else ((*[DEEP] * (axes - 3), *[SIDE] * 3)[-axes:],)


def tunes_at(kernel: Kernel, axes: dict[str, int]) -> Iterator[dict[str, int]]:
    """Every launch that the claim admits at these sizes."""
    if any(size not in kernel.axes[name] for name, size in axes.items()):
        return
    for values in product(*kernel.tune.values()):
        tune = dict(zip(kernel.tune, values, strict=True))
        if not kernel.where.broken({**axes, **tune}):
            yield tune


def size_text(size: Sequence[int]) -> str:
    """A size as the user writes it: 1024x4096."""
    return "x".join(map(str, size))


def axes_text(axes: dict[str, int]) -> str:
    """Sizes with the names of their axes."""
    return " ".join(f"{name}={size}" for name, size in axes.items())
