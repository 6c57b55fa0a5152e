"""The sizes of a task of GPU MODE: how those of its tensors follow from the arguments of `generate_input`.

kfuzz makes the data once more for each argument, with only that one changed. Knows arguments and shapes; it does not
know what the tensors hold.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import lcm
from typing import Any

TaskArguments = Mapping[str, Any]
TaskShapes = Mapping[str, tuple[int, ...]]
SEED = "seed"
MORE = tuple(1 << power for power in range(9))
"""By how much an argument grows, until the task takes it: a size may have to be even, or a multiple of 64."""
LARGER = (2, 4)
"""By what it is multiplied besides: a size may be a number of blocks."""
PARTS = re.compile(r"(\w+) // (\d+)")
Probes = Mapping[str, Sequence[tuple[TaskArguments, TaskShapes]]]
"""For each argument the same data with only that one changed."""


@dataclass
class TaskSizes:
    """The dimensions of each tensor, as names, digits or expressions over names.

    `home`: the task's own size of each name. `multiples`: a number that divides every size of a name.
    """

    dims: dict[str, list[str]] = field(default_factory=dict)
    home: dict[str, int] = field(default_factory=dict)
    multiples: dict[str, int] = field(default_factory=dict)


def growing(arguments: TaskArguments) -> Iterator[tuple[str, int]]:
    """The arguments that may be a size, with their values."""
    for name, value in arguments.items():
        if name != SEED and type(value) is int and value > 0:
            yield name, value


def sizes_of(arguments: TaskArguments, shapes: TaskShapes, probes: Probes) -> TaskSizes:
    """The dimensions of tensors of these shapes, by those of the same tensors with one argument changed."""
    lengths = {(name, axis): size for name, shape in shapes.items() for axis, size in enumerate(shape)}
    follows = {
        place: [name for name, some in probes.items() if any(length_at(place, one) != lengths[place] for one in some)]
        for place in lengths
    }
    is_size = {
        name: any(
            lengths[place] == arguments[name] and follows[place] == [name]
            and all(length_at(place, one) == one[0][name] for one in some) for place in lengths
        )
        for name, some in probes.items()
    }  # fmt: skip
    found = TaskSizes()
    every = [(arguments, shapes), *(one for name, some in probes.items() if is_size[name] for one in some)]
    for (name, axis), size in lengths.items():
        free = [one for one in follows[name, axis] if is_size[one]]
        text = next(texts_for((name, axis), free, arguments, every), "")
        if not free:
            text = str(size)
        elif not text:
            text = f"{name}_{axis}"
            found.home[text] = size
        found.dims.setdefault(name, []).append(text)
        found.home |= {one: arguments[one] for one in free if text == one}
    for name in found.home.keys() & probes.keys():
        more = min(one[0][name] for one in probes[name]) - arguments[name]
        if more > 1 and arguments[name] % more == 0:
            found.multiples[name] = more
    for name, by in (whole.groups() for of in found.dims.values() for one in of if (whole := PARTS.fullmatch(one))):
        if arguments[name] % int(by) == 0:  # a task divides a size by the length of its groups: it has whole ones
            found.multiples[name] = lcm(found.multiples.get(name, 1), int(by))
    return found


def length_at(place: tuple[str, int], probe: tuple[TaskArguments, TaskShapes]) -> int:
    name, axis = place
    return probe[1][name][axis]


def texts_for(
    place: tuple[str, int],
    free: Sequence[str],
    arguments: TaskArguments,
    every: Sequence[tuple[TaskArguments, TaskShapes]],
) -> Iterator[str]:
    """The expressions over these arguments that are the size at a place in each of these shapes."""
    size = length_at(place, every[0])
    for text in candidates(free, arguments, size):
        try:
            is_right = all(eval(text, {}, dict(one)) == length_at(place, (one, of)) for one, of in every)  # noqa: S307  ours
        except (ZeroDivisionError, TypeError):
            continue
        if is_right:
            yield text


def candidates(free: Sequence[str], arguments: TaskArguments, size: int) -> Iterator[str]:
    """The expressions to try for a size that follows from these arguments, the plainest first."""
    yield from free
    for one in free:
        value = arguments[one]
        if value % size == 0:
            by = value // size
            yield from (f"{one} // {by}", f"({one} + {by - 1}) // {by}")
        yield from (f"({one} + {by - 1}) // {by}" for by in (16, 32, 64, 128, 256))
        yield f"{one} {'+' if size > value else '-'} {abs(size - value)}"
        if size % value == 0:
            yield f"{one} * {size // value}"
    for one, other in permutations(free, 2):
        yield from (f"{one} - {other} + 1", f"{one} // {other}", f"{one} * {other}", f"{one} + {other}")
