"""The sizes of a reference's outputs as expressions over those of its inputs, found by running it at several sizes.

Knows numbers alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations, product

MOST_FACTOR, MOST_STEP, MOST_ADDED = 9, 33, 80
"""Windows, strides and paddings of an expression are tried up to these."""
MOST_INSIDE = 9
"""The same of an expression with two windows."""


def fit_size(values: Sequence[int], every: Sequence[Mapping[str, int]]) -> str | None:
    """An expression over sizes with these values, the simplest first; None if none is found."""
    return next(fits(values, every), None)


def fits(values: Sequence[int], every: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """The expressions over sizes with these values, the simplest first."""
    if len(set(values)) == 1:
        yield str(values[0])
        return
    for text, made in expressions(values, every):
        if list(values) == made:
            yield text


def expressions(values: Sequence[int], every: Sequence[Mapping[str, int]]) -> Iterator[tuple[str, list[int]]]:
    """Expressions that may fit, each with its values."""
    names = [name for name in every[0] if len({sizes[name] for sizes in every}) > 1]
    for name in names:
        yield name, [sizes[name] for sizes in every]
    for name in names:
        yield from of_one(name, values, every)
    for one, other in combinations(names, 2):
        pairs = [(sizes[one], sizes[other]) for sizes in every]
        yield from with_number(f"{one} * {other}", [a * b for a, b in pairs], values)
        yield from with_number(f"{one} + {other}", [a + b for a, b in pairs], values)
    for one, other in permutations(names, 2):
        yield from with_number(f"{one} - {other}", [sizes[one] - sizes[other] for sizes in every], values)
    for three in combinations(names, 3):
        products = [sizes[three[0]] * sizes[three[1]] * sizes[three[2]] for sizes in every]
        yield from with_number(" * ".join(three), products, values)
    for name in names:
        yield from of_two_windows(name, values, every)


def with_number(text: str, made: Sequence[int], values: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """An expression times a number, and plus one."""
    yield text, list(made)
    factor, rest = divmod(values[0], made[0]) if made[0] else (0, 0)
    if factor > 1 and not rest:
        is_product = "+" not in text and "-" not in text
        yield f"{factor} * {text}" if is_product else f"{factor} * ({text})", [factor * one for one in made]
    added = values[0] - made[0]
    yield f"{text}{plus(added)}", [one + added for one in made]
    for step in range(2, MOST_STEP + 1):
        yield f"({text}) // {step}", [one // step for one in made]
        added = values[0] - made[0] // step
        yield f"({text}) // {step}{plus(added)}", [one // step + added for one in made]


def plus(added: int) -> str:
    """The text that adds a number."""
    return f" + {added}" if added > 0 else f" - {-added}" if added else ""


def of_one(name: str, values: Sequence[int], every: Sequence[Mapping[str, int]]) -> Iterator[tuple[str, list[int]]]:
    """a n + c, and (a n + c) // s + d as after a window."""
    made = [sizes[name] for sizes in every]
    for factor in range(1, MOST_FACTOR):
        times = name if factor == 1 else f"{factor} * {name}"
        added = values[0] - factor * made[0]
        yield times + plus(added), [factor * one + added for one in made]
    if step := step_of(made, values):
        yield f"{name} // {step}", [one // step for one in made]
    every_step = [(added, step) for added in range(-MOST_ADDED, MOST_ADDED + 1) for step in range(2, MOST_STEP + 1)]
    for added, step in sorted(every_step, key=lambda one: (abs(one[0]), one[1])):
        if (made[0] + added) // step == values[0]:
            text = f"({name}{plus(added)})" if added else name
            yield f"{text} // {step}", [(one + added) // step for one in made]


def of_two_windows(
    name: str, values: Sequence[int], every: Sequence[Mapping[str, int]]
) -> Iterator[tuple[str, list[int]]]:
    """b ((a n + c) // s) + d: a transposed convolution after a window that moves by more than one place, or before."""
    made = [sizes[name] for sizes in every]
    for inner, step, outer in product(range(1, MOST_INSIDE), range(2, MOST_INSIDE), range(1, MOST_INSIDE)):
        for inside in sorted(range(-MOST_INSIDE, MOST_INSIDE + 1), key=abs) if inner > 1 or outer > 1 else ():
            found = [outer * ((inner * one + inside) // step) for one in made]
            added = values[0] - found[0]
            if values[-1] - found[-1] == added:
                times = f"{inner} * {name}" if inner > 1 else name
                window = f"({times}{plus(inside)}) // {step}" if inner > 1 or inside else f"{name} // {step}"
                text = f"{outer} * ({window})" if outer > 1 else window
                yield f"{text}{plus(added)}", [one + added for one in found]


def step_of(made: Sequence[int], values: Sequence[int]) -> int:
    """The number by which these sizes give these values, however large: one that divides them all, if there is one."""
    if not all(values):
        return 0
    least = max(one // (value + 1) + 1 for one, value in zip(made, values, strict=True))
    most = min(one // value for one, value in zip(made, values, strict=True))
    whole = (step for step in range(most, least - 1, -1) if not any(one % step for one in made))
    return next(whole, least) if 1 < least <= most else 0
