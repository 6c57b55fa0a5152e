"""The largest number of each window, where it lies, and the gradient that goes there alone."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from kfuzz.claims.references.torch.twins.rules.shared import finite, rounding
from kfuzz.claims.references.torch.twins.sets import TINY, StepResult
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

POOLS = ("max_pool2d_with_indices", "max_pool3d_with_indices")
ADAPTIVE = ("adaptive_max_pool2d", "adaptive_max_pool3d")
BACKWARD = ("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
MOST_IN_WINDOWS = 1 << 24
"""Of more numbers in all windows each place counts as unknown."""


@dataclass(frozen=True)
class WindowedAxis:
    """An axis along which windows lie. `places`: those of each window, [windows, width]; `inside`: which are any."""

    axis: int
    size: int
    places: torch.Tensor
    inside: torch.Tensor

    def gathered(self, x: torch.Tensor) -> torch.Tensor:
        """The numbers of each window, along two axes in the place of one; -inf beyond the ends."""
        made = x.index_select(self.axis, self.places.reshape(-1)).unflatten(self.axis, self.places.shape)
        inside = self.inside.reshape(*self.inside.shape, *[1] * (x.ndim - self.axis - 1))
        return torch.where(inside, made, -torch.inf)

    def spread(self, of_windows: torch.Tensor) -> torch.Tensor:
        """At each place the sum over the windows that it is in."""
        width = self.places.shape[1]
        every = of_windows.repeat_interleave(width, self.axis)
        inside = self.inside.reshape(-1, *[1] * (of_windows.ndim - self.axis - 1))
        shape = [self.size if at == self.axis else length for at, length in enumerate(of_windows.shape)]
        zeros = torch.zeros(shape, dtype=of_windows.dtype)
        return zeros.index_add(self.axis, self.places.reshape(-1), torch.where(inside, every, 0))


def windowed_axes(op: Operation, first: int, inner: torch.Size, outer: torch.Size) -> Iterator[WindowedAxis]:
    """The axes of a pool. `first`: the place of its width among the arguments; `inner`, `outer`: the shapes of what it
    reads and of what it returns.
    """
    count = 3 if "3d" in op.name else 2

    def of_axes(place: int, name: str, usual: int | list[int]) -> list[int]:
        given = op.option(place, name, usual)
        given = usual if isinstance(given, list | tuple) and not given else given
        every = [given] if isinstance(given, int) else list(given)
        return every * count if len(every) == 1 else every

    width = of_axes(first, "kernel_size", 1)
    step = of_axes(first + 1, "stride", width)
    padding = of_axes(first + 2, "padding", 0)
    apart = of_axes(first + 3, "dilation", 1)
    for number in range(count):
        axis = len(inner) - count + number
        begins = torch.arange(outer[axis]) * step[number] - padding[number]
        places = begins[:, None] + torch.arange(width[number]) * apart[number]
        inside = (places >= 0) & (places < inner[axis])
        yield WindowedAxis(axis, inner[axis], places.clamp(0, inner[axis] - 1), inside)


def pooled(run: Roundings, op: Operation) -> list[StepResult]:
    """The largest numbers of windows, and their places: known where no other number of a window may be as large."""
    del run
    made = op.at(lambda one: one.number)
    low, high = (op.at(lambda one: one.end(sign).double())[0] for sign in (-1, 1))  # noqa: B023  used at once
    r = torch.where(made[0].isinf() & (high == low), 0.0, torch.maximum(high - made[0], made[0] - low))
    first, last = (op.at(lambda one: tilted(one.number, sign))[1:] for sign in (-1, 1))  # noqa: B023  used at once
    unknown = [(r > 0) | (a != b) for a, b in zip(first, last, strict=True)]
    if op.name in POOLS and any(bool(one.any()) for one in unknown):
        unknown = [one & ~is_one_alone(op, low) for one in unknown]
    places = [StepResult(one, torch.where(open_, torch.inf, 0.0)) for one, open_ in zip(made[1:], unknown, strict=True)]
    return [StepResult(made[0], r), *places]


def is_one_alone(op: Operation, low: torch.Tensor) -> torch.Tensor:
    """Of which windows one number alone may be the largest. `low`: the least that the largest of each may be."""
    given, windows = op.args[0], low
    axes = list(windowed_axes(op, 1, given.x.shape, low.shape))
    in_window = low.numel()
    for one in axes:
        in_window *= one.places.shape[1]
    if in_window > MOST_IN_WINDOWS:
        return torch.zeros(low.shape, dtype=torch.bool)
    high = given.end(1).double().nan_to_num(torch.inf, torch.inf, -torch.inf)
    for one in reversed(axes):  # the axes before stay where they are
        high = one.gathered(high)
        windows = windows.unsqueeze(one.axis + 1)
    inner = [one.axis + 1 + number for number, one in enumerate(axes)]
    return (high >= windows).sum(inner) == 1


def pooled_backward(run: Roundings, op: Operation) -> list[StepResult]:
    """The gradient of each window at its place; anywhere in the window if that is not known."""
    gradient, given, indices = op.args[0], op.args[1], op.args[7]

    def at(numbers: torch.Tensor) -> torch.Tensor:
        plain = [numbers, given.x.to(numbers.dtype), *op.args[2:7], indices.x]
        made: torch.Tensor = op.func(*plain)
        return made.double()

    x = at(gradient.number)
    axes = list(windowed_axes(op, 2, given.x.shape, gradient.x.shape))

    def spread(of_windows: torch.Tensor) -> torch.Tensor:
        for one in axes:
            of_windows = one.spread(of_windows)
        return of_windows

    is_open = indices.radius > 0
    if bool(is_open.any()):  # it goes elsewhere, however little the numbers move
        run.note_jump()
    somewhere = torch.where(is_open, gradient.size + 2 * gradient.radius, 0.0)
    known = at(torch.where(is_open, 0.0, gradient.radius))
    size, many = (spread(one.double()) for one in (finite(gradient.size), torch.ones(gradient.x.shape)))
    more = many * (max(run.fine, run.unit(op.dtype)) * size + TINY)
    kept = (many <= 1) & torch.ones(x.shape, dtype=torch.bool)
    return [StepResult(x, known + spread(somewhere), rounding(run, x, op.dtype, more, kept))]


def tilted(x: torch.Tensor, sign: int) -> torch.Tensor:
    """Numbers that rise or fall by far less than they differ, so that of equal ones the last, or the first, counts."""
    plane = x.shape[-1] * (x.shape[-2] if x.ndim > 2 else 1)
    rise = torch.arange(x.numel()).reshape(x.shape) % (plane * (x.shape[-3] if x.ndim > 4 else 1))
    size = x.abs().nan_to_num(0, posinf=0).max().clamp(min=2.0**-126) if x.numel() else torch.ones(())
    plain = x.clamp(-2 * size, 2 * size).nan_to_num(4 * float(size))  # infinities, and NaNs, are equal, too
    return plain + sign * size * 2.0**-30 * rise / max(plane, 1)


RULES = {
    **dict.fromkeys((*POOLS, *ADAPTIVE), pooled),
    **dict.fromkeys(BACKWARD, pooled_backward),
}  # fmt: skip
