"""Hostile (max, sum) states, the inputs of merges: one family for each way in which two states can meet.

Knows what a state is: (-inf, any sum) is empty, else the maximum is finite and the sum at least 1.
"""

from typing import NamedTuple

from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.search.families import FLT_MAX, NAN, NEG_INF


class State(NamedTuple):
    """How a maximum and its sum are made."""

    top: Base
    total: Base


class Meeting(NamedTuple):
    """Two states that are merged, element by element."""

    left: State
    right: State


def _constant(value: float) -> Base:
    return Base("constant", bits_of(value))


def _noise(offset: float, scale: float, seed: int) -> Base:
    return Base("normal", bits_of(offset), bits_of(scale), seed)


def _sum(lo: float, spread: float, seed: int) -> Base:
    return Base("uniform", bits_of(lo), bits_of(spread), seed)


def meetings(seed: int) -> tuple[Meeting, ...]:
    """Every way in which two states can meet, the simplest first."""
    one, few, many = _constant(1.0), _sum(1.0, 9.0, seed + 2), _sum(1e3, 1e6, seed + 3)
    top, other = _noise(0.0, 1.0, seed), _noise(0.0, 1.0, seed + 1)
    empty = State(Base("constant", NEG_INF), _constant(0.0))
    junk = State(Base("constant", NEG_INF), _sum(-8.0, 1e30, seed + 4))
    nothing = State(Base("constant", NEG_INF), Base("constant", NAN))  # an empty row's sum may well be NaN
    heavy = State(_sum(-80.0, 60.0, seed), _sum(1e33, 1e36, seed + 5))  # far below, and yet nearly all of the sum
    plain = State(top, few)
    return (
        Meeting(State(_constant(0.0), one), State(_constant(0.0), one)),
        Meeting(plain, State(other, many)),
        Meeting(empty, plain),
        Meeting(plain, empty),
        Meeting(plain, State(top, many)),  # equal maxima
        Meeting(empty, empty),
        Meeting(State(_noise(200.0, 1.0, seed), few), State(other, few)),
        Meeting(junk, plain),
        Meeting(plain, State(_noise(200.0, 1.0, seed + 1), few)),
        Meeting(plain, junk),
        Meeting(plain, State(_noise(2.0**-24, 1.0, seed), few)),  # the next float, or the same
        Meeting(State(_constant(FLT_MAX), few), State(_constant(-FLT_MAX), few)),
        Meeting(State(_constant(-FLT_MAX), few), State(_constant(-FLT_MAX), many)),
        Meeting(junk, empty),
        Meeting(State(_noise(-1e4, 1.0, seed), few), State(_noise(-1e4, 1.0, seed + 1), few)),
        Meeting(State(_constant(-FLT_MAX), one), State(_constant(FLT_MAX), one)),
        Meeting(State(_sum(-104.0, 17.0, seed), few), State(_constant(0.0), one)),  # exp is denormal
        Meeting(State(_noise(0.0, 1e-20, seed), few), State(_noise(0.0, 1e-20, seed + 1), few)),
        Meeting(State(_constant(0.0), many), State(_sum(-104.0, 17.0, seed), _sum(1e30, 1e36, seed + 5))),
        Meeting(State(_noise(0.0, 30.0, seed), few), State(_noise(0.0, 30.0, seed + 1), many)),
        Meeting(State(_constant(-0.0), one), State(_constant(0.0), one)),
        Meeting(State(_noise(0.0, 1e30, seed), one), State(_noise(0.0, 1e30, seed + 1), one)),
        Meeting(State(_constant(0.0), _sum(1.0, 2.0**-22, seed + 5)), State(_constant(-16.5), one)),
        Meeting(State(_constant(0.0), one), heavy),
        Meeting(nothing, plain),
        Meeting(heavy, State(_constant(0.0), one)),
        Meeting(plain, nothing),
    )


MEETINGS = len(meetings(0))


def merge_inputs(n: int, start: int, seed: int) -> dict[str, Recipe]:
    """n pairs of states: element i is meeting start - i, so that all of them are met in turn."""
    every = meetings(seed)
    turn = [every[(start - index) % len(every)] for index in range(min(n, len(every)) or 1)]
    bases = {
        "m1": [meeting.left.top for meeting in turn],
        "s1": [meeting.left.total for meeting in turn],
        "m2": [meeting.right.top for meeting in turn],
        "s2": [meeting.right.total for meeting in turn],
    }
    return {role: Recipe(n, 1, tuple(map(Band, column))) for role, column in bases.items()}


def totals(seed: int) -> tuple[Band, ...]:
    """The sums of a row of states."""
    one, few = _constant(1.0), _sum(1.0, 9.0, seed)
    heavy = Edit(seed % 2, -1, bits_of(1e30), every=2)  # whatever its maximum, every other state may count most
    return (Band(one), Band(few), Band(_sum(1.0, 1e6, seed)), Band(_sum(1e30, 1e34, seed)), Band(one, (heavy,)))


def far_below(cols: int, seed: int) -> tuple[Band, Band]:
    """A row of states of which one has the maximum, and all the others nearly all of the sum.

    Half the time they are a whole number below it, all of them: then nothing is rounded but by exp. The maximum comes
    first, last or between, so that the heavy ones are joined to it, or it to them.
    """
    is_whole = seed % 2 == 0
    where = (0, cols - 1, seed % cols)[seed // 128 % 3]
    top = Edit(where, where, bits_of(1.0 if is_whole else 0.7))
    tops = Base("uniform", bits_of(-70.0), bits_of(40.0), seed)
    if is_whole:
        tops = _constant(-24.0 - seed // 2 % 47)
    return Band(tops, (top,)), Band(_constant(1e32), (top._replace(bits=bits_of(1.0)),))


def with_empty(tops: Band, sums: Band, seed: int) -> tuple[Band, Band]:
    """A row of states of which every other one is empty, and has a sum that means nothing."""
    first = seed % 2
    return (
        tops._replace(edits=(*tops.edits, Edit(first, -1, NEG_INF, every=2))),
        sums._replace(edits=(*sums.edits, Edit(first, -1, NAN, every=2))),
    )
