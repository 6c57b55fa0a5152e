"""A forward witness: one choice of shared values for each row that can produce every element of an answer.

Contraction never excludes a choice that satisfies every step, so in a row with a witness it would find no clash and
need not run. Most rows of a right answer have one, and a walk forwards costs a fifth of the walks back. The choice is
guessed by least squares and proved by intervals. A tape of a kind that is not walked here has no witness, and is
contracted. This module knows no op.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from kfuzz.oracle.bounds.joint.boxes import STEPS, Boxes
from kfuzz.oracle.bounds.joint.steps import ONWARD, relative_room, result_of, room_of
from kfuzz.oracle.numbers.elements import F32, Reals
from kfuzz.oracle.numbers.enclosure import Mask
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import Pair
from kfuzz.oracle.systems.intervals import flush
from kfuzz.oracle.systems.value import Quantity

LEAST_WIDTH = 2.0**-100
"""docs/formulas.md#shared-values: how far a guess may move a known value; no bound depends on it."""
PRIOR = 1e-3
"""The small weight of a value's own set, relative to one element of the answer."""

EXACT: dict[str, Callable[[Reals, Reals], Reals]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
}  # fmt: skip
Sets = dict[int, Pair]


def find_rows_without_witness(band: Bands, boxes: Boxes, tape: Sequence[Quantity], out: Quantity, got: Reals) -> Mask:
    """The rows without shared values that can produce all their elements, and any row with a NaN.

    Every value that is used twice must be chosen, or two users may assume different values of it. If a value with one
    number for each element is used twice, no row has a witness.
    """
    nowhere = np.ones(out.shape[:-1], dtype=np.bool_)
    if band.f is not F32 or not band.E.eps:
        return nowhere
    useful = [value for value in tape if boxes.is_useful(value)]
    users = Counter(id(operand) for value in useful for operand in _operands(value))
    of_elements = [value for value in useful if value.shape == out.shape]
    of_rows = [value for value in useful if value.shape == (*out.shape[:-1], 1) or value.lo.size == 1]
    if (
        len(of_elements) + len(of_rows) < len(useful)
        or any(value.how[:1] == () or value.how[0] not in STEPS for value in of_elements)
        or any(users[id(value)] != (value is not out) for value in of_elements)
        or not boxes.is_useful(out)
        or not all(boxes.is_shared(value) for value in of_rows)
    ):
        return nowhere
    direct = {id(v) for step in of_elements for v in _operands(step) if v.shape != out.shape and boxes.is_useful(v)}
    guess = _guess(band, boxes, of_elements, [v for v in of_rows if id(v) in direct and v.lo.size > 1], out, got)
    sets: Sets = {}
    empty: Mask = np.zeros((), dtype=np.bool_)
    for value in of_rows:
        lo, hi = _row_result(band, value, sets)
        if id(value) in direct or users[id(value)] > 1 or value.lo.size == 1:
            lo = hi = np.minimum(np.maximum(guess.get(id(value), middle(value)), lo), hi)
        sets[id(value)] = lo, hi
        empty = empty | ~(lo <= hi)
    for value in of_elements:
        lo, hi = _step_result(band, value, *(_known_set(operand, sets) for operand in _operands(value)))
        lo, hi = np.maximum(lo, value.lo), np.minimum(hi, value.hi)
        sets[id(value)] = lo, hi
        if value is out:
            empty = empty | ~((lo <= got) & (got <= hi))
        elif not (lo <= hi).all():
            empty = empty | ~(lo <= hi)
    return np.asarray(np.broadcast_to(empty, out.shape).any(axis=-1))


def middle(value: Quantity) -> Reals:
    """The middle of a set; 0 if that is not a number."""
    if value.is_point:
        return value.lo
    made = (value.lo + value.hi) / 2
    return made if np.isfinite(made).all() else np.where(np.isfinite(made), made, 0.0)


def _operands(value: Quantity) -> list[Quantity]:
    return [operand for operand in value.how[1:3] if isinstance(operand, Quantity)]


def _known_set(value: Quantity, sets: Sets) -> Pair:
    return sets.get(id(value), (value.lo, value.hi))


def _guess(
    band: Bands, boxes: Boxes, steps: Sequence[Quantity], chosen: Sequence[Quantity], out: Quantity, got: Reals
) -> dict[int, Reals]:
    """The chosen values that fit the answer best, row by row, from the slopes and each step's possible error.

    Least squares, with each element in units of the possible error of its own steps: elements near 0 fix a mean best.
    """
    if not chosen:
        return {}
    point = _points(steps)
    brief = {key: numbers.astype(np.float32) for key, numbers in point.items()}  # a guess need not be exact
    slopes: dict[int, Reals] = {id(out): np.ones((), dtype=np.float32)}
    room: Reals = np.zeros(out.shape, dtype=np.float32)
    for value in reversed(steps):
        slope = slopes[id(value)]
        error = np.asarray(slope * brief[id(value)])
        np.abs(error, out=error)
        error *= np.float32(relative_room(band, value))
        room += error
        for place, operand in enumerate(_operands(value)):
            if boxes.is_useful(operand):
                more = slope * _factor(value, place, brief)
                slopes[id(operand)] = slopes[id(operand)] + more if id(operand) in slopes else more
    room[room == 0] = np.inf
    weight = 1 / room
    own = [np.maximum((value.hi - value.lo) / 2, LEAST_WIDTH) for value in chosen]
    A = [slopes[id(value)] * width.astype(np.float32) * weight for value, width in zip(chosen, own, strict=True)]
    off = (got - point[id(out)]).astype(np.float32)
    off *= weight
    moved = _least_squares(A, off)
    by = [moved[..., place : place + 1] * width for place, width in enumerate(own)]
    return {id(value): middle(value) + more for value, more in zip(chosen, by, strict=True)}


def _points(steps: Sequence[Quantity]) -> dict[int, Reals]:
    """Every step's result if each input is in the middle of its set and nothing is rounded."""
    made: dict[int, Reals] = {}
    for value in steps:
        for operand in _operands(value):
            if id(operand) not in made:
                made[id(operand)] = middle(operand)
        numbers = [made[id(operand)] for operand in _operands(value)]
        made[id(value)] = numbers[0] if value.how[0] == "stored" else EXACT[value.how[0]](*numbers)
    return made


def _least_squares(A: Sequence[Reals], off: Reals) -> Reals:
    """Least squares, row by row."""
    right = np.stack([np.einsum("...n,...n->...", column, off) for column in A], axis=-1).astype(np.float64)
    G = np.empty((*right.shape, len(A)))
    for i, a in enumerate(A):
        for j, b in enumerate(A[: i + 1]):
            G[..., i, j] = G[..., j, i] = np.einsum("...n,...n->...", a, b)
        G[..., i, i] += PRIOR * PRIOR
    odd = ~(np.isfinite(G).all(axis=(-2, -1)) & np.isfinite(right).all(axis=-1))
    if odd.any():
        G[odd], right[odd] = np.eye(len(A)), 0.0
    try:
        solved = np.linalg.solve(G, right[..., None])
    except np.linalg.LinAlgError:  # two columns of one direction, so large that the prior is lost beside them
        solved = np.linalg.pinv(G, hermitian=True) @ right[..., None]
    return np.asarray(solved[..., 0])


def _factor(value: Quantity, place: int, point: dict[int, Reals]) -> Reals:
    """By how much a step's result moves with one of its operands."""
    kind, numbers = value.how[0], [point[id(operand)] for operand in _operands(value)]
    match kind, place:
        case "mul", _:
            return numbers[1 - place]
        case "div", 0:
            return 1 / numbers[1]
        case "div", _:
            return -point[id(value)] / numbers[1]
        case _:
            return np.asarray(-1.0 if (kind, place) == ("sub", 1) else 1.0, dtype=np.float32)


def _row_result(band: Bands, value: Quantity, sets: Sets) -> Pair:
    """The set of a value that a row shares, given the sets of its operands."""
    sources = [_known_set(operand, sets) for operand in _operands(value)]
    if value.how[:1] and value.how[0] in STEPS:
        lo, hi = _step_result(band, value, *sources)
    elif value.how[:1] and value.how[0] in ONWARD:
        lo, hi = result_of(band, value, *sources)
    else:
        return value.lo, value.hi
    return np.maximum(lo, value.lo), np.minimum(hi, value.hi)


def _step_result(band: Bands, value: Quantity, first: Pair, second: Pair | None = None) -> Pair:
    """The results that a step may store for operands in these sets: only those that its inversion leads back from."""
    second = second or first
    match value.how[0]:
        case "add" | "sub":
            lo, hi = _sum(first, second) if value.how[0] == "add" else _sum(first, (-second[1], -second[0]))
            below, above = band.E.hull(lo, hi, band.f)
            if band.ftz:
                return flush(below, above, band.f.min_normal)
            for end, exact in ((below, lo), (above, hi)):
                low = np.abs(exact) < band.f.min_normal
                if low.any():  # a sum of floats is exact there, so its inversion has no room
                    end[low] = np.broadcast_to(exact, end.shape)[low]
            return below, above
        case "mul":
            lo, hi = _corners(np.multiply, first, second)
        case "div":
            lo, hi = _corners(np.divide, first, second)
        case _:
            lo, hi = first
    g, lost = room_of(band, value)
    g, lost = g / (1 + g), lost / (1 + g)  # relative to the exact result, not to the stored one
    if np.min(value.lo) >= 0:
        lo = np.maximum(lo, 0.0)
    below, above = np.asarray(np.abs(lo)), np.asarray(np.abs(hi))
    below *= g
    above *= g
    below += lost
    above += lost
    return np.subtract(lo, below, out=below), np.add(hi, above, out=above)


def _sum(first: Pair, second: Pair) -> Pair:
    (al, ah), (bl, bh) = first, second
    lo = al + bl
    return lo, lo if al is ah and bl is bh else ah + bh


def _corners(apply: Callable[[Reals, Reals], Reals], first: Pair, second: Pair) -> Pair:
    """The least and the most of an operation monotone in each operand; NaN, so no witness, if a divisor may be 0."""
    (al, ah), (bl, bh) = first, second
    if apply is np.divide and not (np.min(bl) > 0 or np.max(bh) < 0):
        return np.full_like(bl, np.nan), np.full_like(bh, np.nan)
    ends = [apply(al, bl)]
    ends += [apply(ah, bl)] if ah is not al else []
    ends += [apply(end, bh) for end in ((al, ah) if ah is not al else (al,))] if bh is not bl else []
    lo = hi = ends[0]
    for end in ends[1:]:
        lo, hi = np.minimum(lo, end), np.maximum(hi, end)
    return lo, hi
