"""The algorithms that the self-check simulates, each once, over any number system.

In simulated float32 they are right kernels that every enclosure must contain; over balls and mpmath they give the exact
answer a second time, without a formula. Rows are the leading axes of an array, terms its last axis.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Order
from tests.oracle.selfcheck.number import Number, Vector

Parts = tuple[Vector, ...]
"""The fields of an item, one array each: (terms,) for a sum, (maxima, sums) for merged states."""


SEQUENTIAL = Order("sequential")
TREE = Order("tree")


def fold(order: Order, items: Parts, combine: Callable[[Parts, Parts], Parts]) -> Parts:
    """All items of the last axis, which is not empty, combined into one in the given order."""
    n = items[0].shape[-1]
    if order.kind == "tree":
        while n > 1:
            half = (n + 1) // 2
            joined = combine(_slice(items, 0, n - half), _slice(items, half, n))
            items = _append(joined, _slice(items, n - half, half))
            n = half
        return tuple(part[..., 0] for part in items)
    if order.kind == "random":
        return _fold_random(np.random.default_rng(order.seed), items, combine)
    width = min(order.width, n)
    held = _slice(items, 0, width)
    for start in range(width, n, width):
        here = min(width, n - start)
        joined = combine(_slice(held, 0, here), _slice(items, start, start + here))
        held = joined if here == width else _append(joined, _slice(held, here, width))
    return fold(TREE, held, combine) if width > 1 else tuple(part[..., 0] for part in held)


def _fold_random(rng: np.random.Generator, items: Parts, combine: Callable[[Parts, Parts], Parts]) -> Parts:
    """A random tree: in every round a random number of random pairs is combined."""
    while (n := items[0].shape[-1]) > 1:
        permutation = rng.permutation(n)
        items = tuple(part[..., permutation] for part in items)
        pairs = int(rng.integers(1, n // 2 + 1))
        joined = combine(_slice(items, 0, pairs), _slice(items, pairs, 2 * pairs))
        items = _append(joined, _slice(items, 2 * pairs, n))
    return tuple(part[..., 0] for part in items)


def _slice(items: Parts, start: int, stop: int) -> Parts:
    return tuple(part[..., start:stop] for part in items)


def _append(left: Parts, right: Parts) -> Parts:
    if right[0].shape[-1] == 0:
        return left
    return tuple(np.concatenate(pair, axis=-1) for pair in zip(left, right, strict=True))


def total(N: Number, terms: Vector, order: Order) -> Vector:
    """The sum of the last axis, computed in N's accumulator and rounded back."""
    A = N.acc
    terms = A.embed(terms) if A is not N else terms
    if N.compensated:
        join = _kahan if order.kind == "sequential" else _exact_join
        held, excess = fold(order, (terms, N.embed(np.zeros(terms.shape))), lambda a, b: join(N, a, b))
        return N.settle(held if order.kind == "sequential" else N.sub(held, excess))
    return N.settle(fold(order, (terms,), lambda a, b: (A.add(a[0], b[0]),))[0])


def _kahan(N: Number, a: Parts, b: Parts) -> Parts:
    """A term added to a (sum, excess) state by Kahan's scheme: the sum is too large by the excess.

    Between partial sums it would lose as much as a plain addition: the addend is rounded, and that error is not kept.
    """
    y = N.sub(b[0], a[1])
    t = N.add(a[0], y)
    return t, N.sub(N.sub(t, a[0]), y)


def _exact_join(N: Number, a: Parts, b: Parts) -> Parts:
    """Two (sum, excess) states added exactly (Knuth's six operations), with the excesses summed separately."""
    t = N.add(a[0], b[0])
    part = N.sub(t, a[0])
    over = N.add(N.sub(a[0], N.sub(t, part)), N.sub(b[0], part))
    return t, N.sub(N.add(a[1], b[1]), over)


def row_max(N: Number, x: Vector) -> Vector:
    """The largest element of each row."""
    return fold(TREE, (x,), lambda a, b: (N.maximum(a[0], b[0]),))[0]


def row_sum(N: Number, x: Vector, order: Order = TREE) -> Vector:
    """The sum of each row."""
    return total(N, x, order)


def safe_merge(N: Number, a: Parts, b: Parts) -> Parts:
    """Two (max, sum of exp(x - max)) states joined; a state whose max is -inf is empty, with any sum."""
    A = N.acc
    (m1, s1), (m2, s2) = a, b
    m = N.maximum(m1, m2)
    with np.errstate(invalid="ignore"):  # -inf - -inf in an empty state, which is replaced below
        e1, e2 = N.exp(N.sub(m1, m)), N.exp(N.sub(m2, m))
        e1, e2 = (A.embed(e1), A.embed(e2)) if A is not N else (e1, e2)
        s = A.add(A.mul(s1, e1), A.mul(s2, e2))
    empty1, empty2 = _is_neg_inf(m1), _is_neg_inf(m2)
    return m, np.where(empty1, s2, np.where(empty2, s1, s))


def _is_neg_inf(m: Vector) -> NDArray[np.bool_]:
    return np.asarray(m.astype(np.float64) == -np.inf, dtype=np.bool_)


def merge_all(N: Number, m: Vector, s: Vector, order: Order = TREE) -> Parts:
    """All states of each row joined into one."""
    top, held = fold(order, (m, N.acc.embed(s) if N.acc is not N else s), lambda a, b: safe_merge(N, a, b))
    return top, N.settle(held)


def max_sum(N: Number, x: Vector, order: Order = TREE) -> Parts:
    """Each row's maximum and its sum of exp(x - max), in two passes."""
    m = row_max(N, x)
    return m, total(N, N.exp(N.sub(x, m[..., None])), order)


def max_sum_online(N: Number, x: Vector, order: Order = TREE) -> Parts:
    """Each row's maximum and its sum of exp(x - max), in one pass: every element is the state (x, 1)."""
    return merge_all(N, x, N.embed(np.ones(x.shape)), order)


def three_pass(N: Number, x: Vector, order: Order = TREE) -> Vector:
    """Softmax: max, then sum of exp(x - max), then exp(x - max) / sum."""
    return _normalize(N, x, max_sum(N, x, order))


def unshifted(N: Number, x: Vector, order: Order = TREE) -> Vector:
    """Softmax straight from the formula: exp(x) / sum of exp(x), without a shift."""
    e = N.exp(x)
    return N.div(e, total(N, e, order)[..., None])


def online(N: Number, x: Vector, order: Order = TREE) -> Vector:
    """Softmax with the max and the sum found in one pass."""
    return _normalize(N, x, max_sum_online(N, x, order))


def _normalize(N: Number, x: Vector, state: Parts) -> Vector:
    m, s = state
    return N.div(N.exp(N.sub(x, m[..., None])), s[..., None])


def sgemm(N: Number, a: Vector, b: Vector, order: Order = SEQUENTIAL) -> Vector:
    """C = A B, every product rounded before it is added."""
    return total(N, N.mul(a[:, None, :], np.swapaxes(b, 0, 1)[None, :, :]), order)
