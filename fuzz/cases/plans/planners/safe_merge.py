"""Pairs of hostile (max, sum) states, the inputs of safe_merge: a family for each way in which two can meet."""

from collections.abc import Mapping
from typing import NamedTuple

from kfuzz.cases.plans.choose import Choose
from kfuzz.cases.plans.families import NAN, NEG_INF
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import Band, Base, Recipe, bits_of
from kfuzz.oracle.numbers.enclosure import FLT_MAX
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Meetings in turn, beginning with any of them."""
    return merge_inputs(wanted["m1"][0], choose(0, MEETINGS - 1), choose(0, 0xFFFF))


class State(NamedTuple):
    """How a maximum and its sum are made."""

    top: Base
    total: Base


class Meeting(NamedTuple):
    """Two states that are merged, element by element."""

    left: State
    right: State


def constant(value: float) -> Base:
    return Base("constant", bits_of(value))


def noise(offset: float, scale: float, seed: int) -> Base:
    return Base("normal", bits_of(offset), bits_of(scale), seed)


def spread(lo: float, width: float, seed: int) -> Base:
    return Base("uniform", bits_of(lo), bits_of(width), seed)


def meetings(seed: int) -> tuple[Meeting, ...]:
    """Every way in which two states can meet, the simplest first."""
    one, few, many = constant(1.0), spread(1.0, 9.0, seed + 2), spread(1e3, 1e6, seed + 3)
    top, other = noise(0.0, 1.0, seed), noise(0.0, 1.0, seed + 1)
    empty = State(Base("constant", NEG_INF), constant(0.0))
    junk = State(Base("constant", NEG_INF), spread(-8.0, 1e30, seed + 4))
    nothing = State(Base("constant", NEG_INF), Base("constant", NAN))  # an empty row's sum may well be NaN
    heavy = State(spread(-80.0, 60.0, seed), spread(1e33, 1e36, seed + 5))  # far below, and yet nearly all of the sum
    plain = State(top, few)
    return (
        Meeting(State(constant(0.0), one), State(constant(0.0), one)),
        Meeting(plain, State(other, many)),
        Meeting(empty, plain),
        Meeting(plain, empty),
        Meeting(plain, State(top, many)),  # equal maxima
        Meeting(empty, empty),
        Meeting(State(noise(200.0, 1.0, seed), few), State(other, few)),
        Meeting(junk, plain),
        Meeting(plain, State(noise(200.0, 1.0, seed + 1), few)),
        Meeting(plain, junk),
        Meeting(plain, State(noise(2.0**-24, 1.0, seed), few)),  # the next float, or the same
        Meeting(State(constant(FLT_MAX), few), State(constant(-FLT_MAX), few)),
        Meeting(State(constant(-FLT_MAX), few), State(constant(-FLT_MAX), many)),
        Meeting(junk, empty),
        Meeting(State(noise(-1e4, 1.0, seed), few), State(noise(-1e4, 1.0, seed + 1), few)),
        Meeting(State(constant(-FLT_MAX), one), State(constant(FLT_MAX), one)),
        Meeting(State(spread(-104.0, 17.0, seed), few), State(constant(0.0), one)),  # exp is denormal
        Meeting(State(noise(0.0, 1e-20, seed), few), State(noise(0.0, 1e-20, seed + 1), few)),
        Meeting(State(constant(0.0), many), State(spread(-104.0, 17.0, seed), spread(1e30, 1e36, seed + 5))),
        Meeting(State(noise(0.0, 30.0, seed), few), State(noise(0.0, 30.0, seed + 1), many)),
        Meeting(State(constant(-0.0), one), State(constant(0.0), one)),
        Meeting(State(noise(0.0, 1e30, seed), one), State(noise(0.0, 1e30, seed + 1), one)),
        Meeting(State(constant(0.0), spread(1.0, 2.0**-22, seed + 5)), State(constant(-16.5), one)),
        Meeting(State(constant(0.0), one), heavy),
        Meeting(nothing, plain),
        Meeting(heavy, State(constant(0.0), one)),
        Meeting(plain, nothing),
    )


MEETINGS = len(meetings(0))


def merge_inputs(n: int, start: int, seed: int) -> dict[str, Recipe]:
    """n pairs of states: element i is meeting start - i, so that all meetings occur in turn."""
    every = meetings(seed)
    turn = [every[(start - index) % len(every)] for index in range(min(n, len(every)) or 1)]
    bases = {
        "m1": [meeting.left.top for meeting in turn],
        "s1": [meeting.left.total for meeting in turn],
        "m2": [meeting.right.top for meeting in turn],
        "s2": [meeting.right.total for meeting in turn],
    }
    return {role: Recipe(n, 1, tuple(map(Band, column))) for role, column in bases.items()}
