"""The number of roundings on a term's way into a sum, from the claim. Knows no op and no bound."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy, Order, U
from kfuzz.oracle.numbers.elements import F32, F64

T = TypeVar("T", float, NDArray[np.float64], arb)


def compensated_growth(adds: T) -> T:
    """The error of a term on its way into a compensated sum of so many additions, in units of u.

    Kahan feeds each error back: 3 + 8 n u, and 2 would not be enough (docs/numerics.md#compensated). Neumaier, or any
    tree of exact additions, sums the errors separately and loses n u (n u) of them; joining the two sums rounds once.
    """
    small = adds * U
    with np.errstate(over="ignore"):
        second = (3 * small).exp() if isinstance(small, arb) else np.exp(3 * small)
    growth: T = 3 + 8 * small + adds * small * second
    return growth


@dataclass(frozen=True)
class Counts:
    """Exps, multiplications by exps, and additions on a term's way into a sum. Arrays where terms differ."""

    exps: NDArray[np.float64] | float
    rescales: NDArray[np.float64] | float
    adds: NDArray[np.float64] | float

    def growth(self, accuracy: Accuracy, at_top: bool = False) -> NDArray[np.float64] | float:
        """The factors on a term's way, in units of ubar, without those of its exponents (docs/numerics.md#path).

        `at_top`: for a term at the maximum, whose only exp is exp(0), which is exactly 1 (docs/numerics.md#a3).
        """
        rescales, adds = self.rescales, self.adds
        exps = 0.0 if at_top else self.exps * accuracy.exp.a0
        if accuracy.accumulate == F64.name:
            return exps + (rescales + adds) * (F64.u / F32.u) + 1  # the cast to float32
        if accuracy.accumulate == "compensated":
            adds = compensated_growth(np.asarray(adds, dtype=np.float64))
        return exps + rescales + adds


def count_roundings(
    accuracy: Accuracy, terms: int, m: NDArray[np.float64] | None = None, first_exp: bool = True
) -> Counts:
    """Count the roundings of every term of a sum of so many terms.

    `m`: the maxima, with the terms along the last axis; a named order counts by them. `first_exp`: each term is itself
    an exp, and not the sum of a given state.
    """
    if accuracy.order is not None:
        adds = adds_in_order(accuracy.order, terms)
        online = accuracy.rescales != 0 and m is not None
        rescales = rescales_in_order(accuracy.order, m) if online and m is not None else np.zeros(terms)
        return Counts(rescales + first_exp, rescales, adds)
    most, times = accuracy.most(terms)
    if accuracy.shift == "zero":
        times = 0
    if accuracy.shift == "running max" and m is not None and not accuracy.exp.base_two:  # else exp(m - m) may err
        steps = steps_above(m)
        return Counts(np.minimum(steps, times + first_exp), np.minimum(steps, times), float(most))
    return Counts(float(times + first_exp), float(times), float(most))


def steps_above(m: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each element, how many distinct values of its row are greater; rows ascend.

    Where every shift is a running maximum, each exp on a term's way that is not exp(0) = 1, and each multiplication
    by one, is a step from one value of the row to a greater one, so this is the most that there can be.
    docs/numerics.md#running-max
    """
    grows = np.zeros(m.shape)
    grows[..., :-1] = m[..., 1:] > m[..., :-1]
    return np.flip(np.cumsum(np.flip(grows, -1), -1), -1)


def adds_in_order(order: Order, n: int) -> NDArray[np.float64]:
    """The number of additions on each term's way in a named order."""
    if n <= 1:
        return np.zeros(n)
    index = np.arange(n)
    match order.kind:
        case "tree":
            half = (n + 1) // 2
            place = np.where(index < half, index, index - half)
            paired = (index < n - half) | (index >= half)
            return paired + adds_in_order(order, half)[place]
        case "random":
            return np.full(n, float(n - 1))
        case _:
            width = 1 if order.kind == "sequential" else min(order.width, n)
            of_thread = (n - index % width + width - 1) // width  # terms of this term's thread
            tree = adds_in_order(Order("tree"), width)[index % width]
            return of_thread - np.maximum(index // width, 1) + tree


def rescales_in_order(order: Order, m: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often each term is multiplied by an exp if only the running maximum decides.

    Exact along a thread: the strict new maxima after the term. For a tree it is the depth, the most that it can be.
    """
    n = m.shape[-1]
    if order.kind == "tree":
        return np.broadcast_to(adds_in_order(order, n), m.shape)
    if order.kind == "random":
        return np.full(m.shape, float(n - 1))
    width = 1 if order.kind == "sequential" else min(order.width, n)
    padded = np.full((*m.shape[:-1], -(-n // width) * width), -np.inf)
    padded[..., :n] = m
    threads = padded.reshape(*m.shape[:-1], -1, width)
    running = np.maximum.accumulate(threads, axis=-2)
    grows = np.zeros(threads.shape)
    grows[..., 1:, :] = running[..., 1:, :] > running[..., :-1, :]
    after = np.flip(np.cumsum(np.flip(grows, -2), -2), -2) - grows
    tree = adds_in_order(Order("tree"), width)
    return (after + tree).reshape(*m.shape[:-1], -1)[..., :n]
