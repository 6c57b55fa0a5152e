"""The joint test: whether one stored value can serve all elements of a row that share it.

It walks a formula's tape backwards from the answer: it inverts every step over intervals, and at a value that is
broadcast (a sum, a mean) it intersects the sets that its users imply; then it walks forwards again (HC4). If an
intersection is empty, no stored value fits. It runs over any ends: floats to find a clash, balls to certify it. It
knows no op.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.bounds.joint.boxes import INF, STEPS, Boxes, Contradiction
from kfuzz.oracle.bounds.joint.steps import ONWARD, step_backward, step_forward
from kfuzz.oracle.bounds.joint.witness import find_rows_without_witness
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.enclosure import Mask
from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.value import Quantity

ROUNDS = 2


def contract(
    band: Bands, out: Quantity, got: Reals, shared: tuple[str, ...] | None
) -> dict[tuple[int, ...], Contradiction]:
    """The rows of `got` that no shared values fit; empty where all do."""
    tape = tape_of(out)
    if not got.size or not all(np.size(value.lo) for value in tape):  # a sum of nothing has no terms to narrow
        return {}
    boxes = Boxes(band, tape, out.shape, shared)
    known = np.asarray(np.isfinite(np.asarray(got, dtype=np.float64)) & np.asarray(out.lo <= out.hi, dtype=np.bool_))
    number = band.E.convert(got)
    count = len(got)
    with np.errstate(all="ignore"):
        if boxes.count_unknowns(steps_of(tape, boxes)) < 2:
            return contract_tape(band, tape, out, number, known, shared)
        lacking = find_rows_without_witness(band, boxes, tape, out, number) | ~known.all(axis=-1)
        rows = np.flatnonzero(lacking.reshape(count, -1).any(axis=1))
        if not len(rows):
            return {}
        if len(rows) == count:
            return contract_tape(band, tape, out, number, known, shared)
        tape = cut_tape(tape, boxes, out, rows)
        found = contract_tape(band, tape, tape[-1], number[rows], known[rows], shared)
        return {(int(rows[place[0]]), *place[1:]): contradiction for place, contradiction in found.items()}


def steps_of(tape: list[Quantity], boxes: Boxes) -> list[Quantity]:
    """The steps that are walked backwards."""
    return [value for value in tape if value.how[:1] and value.how[0] in STEPS and boxes.is_useful(value)]


def contract_tape(
    band: Bands, tape: list[Quantity], out: Quantity, number: Reals, known: Mask, shared: tuple[str, ...] | None
) -> dict[tuple[int, ...], Contradiction]:
    """Walk backwards and forwards, as often as a further round can narrow more."""
    boxes = Boxes(band, tape, out.shape, shared)
    if all_of(known):
        boxes.narrow(out, number, number)
    else:
        boxes.narrow(out, np.where(known, number, -INF), np.where(known, number, INF))
    steps = steps_of(tape, boxes)
    onward = [value for value in tape if value.how[:1] and value.how[0] in ONWARD and boxes.is_useful(value)]
    for _ in range(ROUNDS if boxes.count_unknowns(steps) > 1 else 1):
        for value in reversed(steps):
            step_backward(band, boxes, value)
        for value in onward:
            step_forward(band, boxes, value)
    return boxes.contradictions


def cut_tape(tape: list[Quantity], boxes: Boxes, out: Quantity, rows: NDArray[np.intp]) -> list[Quantity]:
    """The steps that are walked, cut to some places of the answer's first axis."""
    made: dict[int, Quantity] = {}

    def is_laid_along(array: Any) -> bool:  # noqa: ANN401  a number, or an array of any kind
        return np.ndim(array) == len(out.shape) and array.shape[0] == len(out.parts[0])

    def part(array: Any) -> Any:  # noqa: ANN401  the same
        return array[rows] if is_laid_along(array) else array

    def copied(value: Quantity, how: tuple[Any, ...]) -> Quantity:
        if id(value) not in made:
            lo = part(value.lo)
            one = Quantity(value.N, lo, lo if value.lo is value.hi else part(value.hi), part(value.nan), how=how)
            one.is_point, one.name, one.number, one.slack = value.is_point, value.name, value.number, part(value.slack)
            made[id(value)] = one
        return made[id(value)]

    for value in tape:
        if boxes.is_useful(value):
            how = [copied(one, one.how) if isinstance(one, Quantity) else one for one in value.how]
            if value.how[:1] == ("squares",) and is_laid_along(value.how[1].lo):
                how[2] = partial(_bound_of_rows, value.how[2], value.how[1], rows)
            copied(value, tuple(how))
    return sorted((value for value in made.values() if value.number), key=lambda value: value.number)


def _bound_of_rows(
    known: Callable[[Reals, Reals], Reals], mean: Quantity, rows: NDArray[np.intp], *ends: Reals
) -> Reals:
    """A step's bound for all rows, evaluated for some."""
    whole = [end.copy() for end in (mean.lo, mean.hi)]
    for one, end in zip(whole, ends, strict=True):
        one[rows] = end
    return known(*whole)[rows]


def tape_of(out: Quantity) -> list[Quantity]:
    """The steps that produce an answer, in the order in which they were made."""
    found: dict[int, Quantity] = {}
    waiting = [out]
    while waiting:
        value = waiting.pop()
        if id(value) not in found:
            found[id(value)] = value
            waiting += [operand for operand in value.how if isinstance(operand, Quantity)]
    return sorted((value for value in found.values() if value.number), key=lambda value: value.number)
