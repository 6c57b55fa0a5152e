"""Are the enclosures of (max, sum) states sound? Test them with simulated float32 reductions and merges."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy, Order
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.enclosure import Floats
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.proof.hard_rows import family_rows
from tests.oracle.selfcheck import algorithms
from tests.oracle.selfcheck.algorithms import SEQUENTIAL, TREE
from tests.oracle.selfcheck.number import ExpNoise, Float32, Vector
from tests.oracle.selfcheck.soundness import MODELS, Plan, Tally, column, usage

ORDERS = (TREE, SEQUENTIAL, Order("strided", 8), Order("random", seed=5))


@np.errstate(all="ignore")
def check_states(plan: Plan) -> tuple[Tally, ...]:
    """max_sum of every family in one pass, and merges of states whose sums differ by up to 38 powers of ten."""
    one_pass, many, pairs = Tally("max_sum, one pass"), Tally("merge_all"), Tally("safe_merge")
    for n, noise, ftz in product(plan.sizes, MODELS, (False, True)):
        x = family_rows(n, 1)
        x = x[np.isfinite(x).any(axis=1)]
        m, s = _states(n, 0, n)
        first, second = _states(300, n, 2), _states(300, n + 1, 2)
        for order in ORDERS:
            N = Float32(noise, ftz, seed=n)
            _check("max_sum", {"x": x}, algorithms.max_sum_online(N, x, order), order, noise, ftz, one_pass)
            answer = algorithms.merge_all(N, m[None], s[None], order)
            _check("merge_all", {"m": m, "s": s}, answer, order, noise, ftz, many)
        inputs = {"m1": first[0], "s1": first[1], "m2": second[0], "s2": second[1]}
        _check("safe_merge", inputs, algorithms.safe_merge(N, first, second), TREE, noise, ftz, pairs)
    return one_pass, many, pairs


def _states(n: int, seed: int, joined: int) -> tuple[Floats, Floats]:
    """States with near, far, equal, denormal and empty maxima, not all empty, and sums from 1 to 1e38 / joined."""
    rng = np.random.default_rng([n, seed])
    m = (rng.standard_normal(n) * rng.choice([1e-40, 1e-6, 1, 10, 50], n)).astype(np.float32)
    m[1:][rng.random(n - 1) < 0.2] = -np.inf
    m[rng.random(n) < 0.2] = m[0]
    return m, (1 + 10.0 ** rng.uniform(-7, 38, n) / joined).astype(np.float32)


def _check(
    op: str, inputs: Mapping[str, Floats], answer: tuple[Vector, ...], order: Order, noise: ExpNoise, ftz: bool,
    tally: Tally,
) -> None:  # fmt: skip
    """Tally where maxima and sums are in their enclosures, under the loosest claim and under the tightest true one."""
    n = max(array.shape[-1] for array in inputs.values())
    height = max(n - 1, 0).bit_length() if order == TREE else max(n - 1, 0)
    loosest = Accuracy(exp=MODELS[noise], ftz=ftz)
    for claim in (loosest, replace(loosest, adds=1 if op == "safe_merge" else height, shift="running max")):
        enclosures = enclose(find(op), inputs, claim, Special())
        for role, got in zip(("m", "s"), answer, strict=True):
            worst, outside = usage(np.asarray(got, dtype=np.float64)[:, None], column(enclosures[role]))
            tally.add(worst[enclosures[role].judged], outside)
