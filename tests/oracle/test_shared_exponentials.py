"""Of exponents at any magnitude, a right algorithm is not broken, and what no algorithm gives is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle import judge
from kfuzz.oracle.systems.exponents import log_sum_of_others
from kfuzz.oracle.systems.loosest import Loosest
from tests.oracle.selfcheck.independent import flash

F = np.float32
Array = Any
LOG2E = F(1.4426950408889634)
MAGNITUDES = [1.0, 1e3, 1e5, 1e7, 1e9, 1e12, 1e18, 1e25, 1e33, 3e38]
OUTPUTS = {"attention": "o", "cross_entropy": "loss"}


def exact_softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def exact_sum(x: Array) -> Array:
    top = x.max(-1, keepdims=True)
    return (top + np.log(np.exp(x - top).sum(-1, keepdims=True)))[..., 0]


def exact_loss(x: Array, labels: Array) -> Array:
    top = x.max(-1, keepdims=True)
    of_label = np.take_along_axis(x, labels[:, None], -1)
    return (np.log(np.exp(x - top).sum(-1, keepdims=True)) + (top - of_label))[..., 0]


EXACT: dict[str, Callable[..., Array]] = {
    "softmax": exact_softmax,
    "log_softmax": lambda x: x - exact_sum(x)[..., None],
    "logsumexp": exact_sum,
    "cross_entropy": exact_loss,
}


def inputs_of(op: str, magnitude: float, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    given = {"x": (rng.uniform(-1, 1, (2, 6)) * magnitude).astype(F)}
    return given | ({"labels": rng.integers(0, 6, 2).astype(np.int32)} if op == "cross_entropy" else {})


def verdict_on(op: str, given: dict[str, Array], got: Array) -> str:
    return judge(op, given, {OUTPUTS.get(op, "y"): got.astype(F)}).status


SEEDS = [(0,), pytest.param((1, 2), marks=pytest.mark.soak)]


@pytest.mark.parametrize("seeds", SEEDS, ids=["one seed", "others"])
@pytest.mark.parametrize("op", EXACT)
def test_at_every_magnitude_a_lie_is_broken_and_the_right_answer_is_kept(op: str, seeds: tuple[int, ...]) -> None:
    """`[1e7, -1e7] -> [0, 0]` was only suspect."""
    lies = 0
    for magnitude in MAGNITUDES:
        for seed in seeds:
            given = inputs_of(op, magnitude, seed)
            with np.errstate(over="ignore"):
                right = EXACT[op](**{n: a.astype(np.float64) if a.dtype == F else a for n, a in given.items()}).astype(
                    F
                )
            if not np.isfinite(right).all():  # a log of a softmax below all numbers
                continue
            assert verdict_on(op, given, right) == "kept"
            made = [0 * right, 0 * right + F(np.nan), right * F(1.02), np.roll(right, 1, -1)]
            made += [given["x"]] if right.shape == given["x"].shape else []
            for lie in made:
                if not np.array_equal(lie, right):
                    assert verdict_on(op, given, lie) == "broken", (magnitude, seed, lie)
                    lies += 1
    assert lies > 30 * len(seeds)


@pytest.mark.parametrize("magnitude", [1e7, 1e20, 3e38])
def test_a_row_of_equal_numbers_has_shares_that_make_up_one(magnitude: float) -> None:
    """Alone each of them may be anything from 0 to 1 if an exponent may be off by thousands."""
    given = {"x": np.full((1, 2), magnitude, F)}
    assert verdict_on("softmax", given, np.array([[0.5, 0.5]])) == "kept"
    for lie in ([0, 0], [0.51, 0.51], [1, 1]):
        assert verdict_on("softmax", given, np.array([lie])) == "broken"


def fused(x: Array, m: Array) -> Array:
    """2^(x log2 e - m log2 e), the first product not rounded."""
    return np.exp2((x.astype(np.float64) * LOG2E - (m * LOG2E)).astype(F))


def unfused(x: Array, m: Array) -> Array:
    return np.exp2(x * LOG2E - m * LOG2E)


def by_rows(x: Array, e: Callable[[Array, Array], Array]) -> Array:
    made = e(x, x.max(-1, keepdims=True))
    return made / made.sum(-1, keepdims=True, dtype=F)


def online(x: Array, e: Callable[[Array, Array], Array]) -> Array:
    top, total = x[..., 0].copy(), np.ones(x.shape[:-1], F)
    for k in range(1, x.shape[-1]):
        new = np.maximum(top, x[..., k])
        total, top = total * e(top, new) + e(x[..., k], new), new
    return e(x, top[..., None]) / total[..., None]


def by_logarithm(x: Array) -> Array:
    top = x.max(-1, keepdims=True)
    return np.exp(x - (top + np.log(np.exp(x - top).sum(-1, keepdims=True, dtype=F))))


ALGORITHMS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "a product that is not rounded": (1e8, lambda x: by_rows(x, fused)),
    "two products": (1e8, lambda x: by_rows(x, unfused)),
    "rescaled, two products": (1e8, lambda x: online(x, unfused)),
    "rescaled, a product that is not rounded": (1e5, lambda x: online(x, fused)),
    "by the logarithm of the sum": (1e5, by_logarithm),
}
"""Algorithms that fold log2 e, or subtract a logarithm, and the greatest exponents of which they keep a digit."""


PART_OF_ANOTHER = {"two products", "rescaled, a product that is not rounded"}
"""Of these algorithms both steps are in the others."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.soak if one in PART_OF_ANOTHER else ()) for one in ALGORITHMS]
)
def test_an_algorithm_that_folds_is_not_broken_as_long_as_it_keeps_a_digit(name: str) -> None:
    most, algorithm = ALGORITHMS[name]
    rng = np.random.default_rng(7)
    seen = set()
    for magnitude in [one for one in (10, 1e3, 1e4, 3e4, 1e5, 1e6, 1e7, 1e8) if one <= most]:
        for cols in (2, 5, 9):
            wide = rng.uniform(-1, 1, (3, cols)) * magnitude
            near = magnitude * (1 + rng.integers(0, 6, (3, cols)) * 2.0**-23)
            for x in (wide, near, magnitude + 4 * rng.standard_normal((3, cols))):
                seen.add(verdict_on("softmax", {"x": x.astype(F)}, algorithm(x.astype(F))))
    assert seen == {"kept", "suspect"}


def test_the_logarithm_of_a_sum_without_one_term() -> None:
    x = np.array([[0.0, 1.0, 700.0, -np.inf]])
    want = [[700.0, 700.0, np.logaddexp(0.0, 1.0), 700.0]]  # e and 1 are less than the last bit of e^700
    assert np.array_equal(log_sum_of_others(x, -1), want)
    assert np.array_equal(log_sum_of_others(x.T, -2), log_sum_of_others(x, -1).T)


SCALE = F(12**-0.5)
SIZES = [1e5, 1e6, 1e7, 1e9, 1e12, 1e20, 1e30]


def heads(size: float, pattern: str, seed: int) -> dict[str, Array]:
    """Queries of a size, so that the scores are of it, too."""
    rng = np.random.default_rng(seed)
    q = {"signed": rng.uniform(-size, size, (1, 4, 12)), "equal": np.full((1, 4, 12), size)}
    q["near"] = size * (1 + rng.integers(-9, 1, (1, 4, 12)) * 2.0**-22)
    k, v = rng.integers(-2, 3, (1, 6, 12)), rng.standard_normal((1, 6, 5))
    return {"q": q[pattern].astype(F), "k": k.astype(F), "v": v.astype(F)}


def exact_mean(given: dict[str, Array]) -> Array:
    q, k, v = (given[role].astype(np.float64) for role in "qkv")
    return exact_softmax(q @ k.swapaxes(-1, -2) * SCALE) @ v


def mean_verdict(given: dict[str, Array], got: Array, scale: float = float(SCALE)) -> str:
    return judge("attention", given, {"o": got.astype(F)}, scalars={"scale": scale}).status


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["signed", pytest.param("equal", marks=pytest.mark.soak), "near"])
def test_lies_about_means_are_broken_whatever_the_size_of_the_scores(pattern: str) -> None:
    """From scores of 10^7 on nothing was judged, and at 10^6 zeros were kept."""
    for size in SIZES:
        given = heads(size, pattern, 3)
        right = exact_mean(given)
        assert mean_verdict(given, right) == "kept"
        lies = [0 * right, 0 * right + np.nan, 0 * right + np.inf, -right, right + np.abs(right).max()]
        lies += [np.roll(right, 1, -1)] + [right * 1.02] * (pattern == "signed")
        assert [mean_verdict(given, lie) for lie in lies] == ["broken"] * len(lies), size


def attend(given: dict[str, Array], divides_first: bool) -> Array:
    """Attention in float32, its products in sequence."""
    q, k, v = (given[role] for role in "qkv")
    s = np.zeros((*q.shape[:2], k.shape[1]), F)
    for i in range(q.shape[-1]):
        s = s + q[..., i, None] * k[:, None, :, i]
    e = np.exp(s * SCALE - (s * SCALE).max(-1, keepdims=True))
    total = e.sum(-1, keepdims=True)
    return (e / total) @ v if divides_first else (e @ v) / total


KERNELS: dict[str, tuple[float, Callable[[dict[str, Array]], Array]]] = {
    "divided last": (1e30, lambda given: attend(given, False)),
    "divided first": (1e30, lambda given: attend(given, True)),
    "rescaled": (1e30, lambda given: flash(given, 1, False, False)),
    "rescaled by tiles": (1e30, lambda given: flash(given, 2, False, False)),
    "rescaled and folded": (1e7, lambda given: flash(given, 1, True, False)),
}
"""Kernels, and the greatest scores at which an exponential of theirs is a number."""


PATTERNS = ("signed", "equal", "near")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        pytest.param(name, pattern, marks=() if (number - place) % len(PATTERNS) == 0 else pytest.mark.soak)
        for number, name in enumerate(KERNELS)
        for place, pattern in enumerate(PATTERNS)
    ],
)  # each kernel with one pattern, the next kernel with the next, and `make soak` has all
def test_right_means_are_not_broken_whatever_the_size_of_the_scores(name: str, pattern: str) -> None:
    most, kernel = KERNELS[name]
    for size in [one for one in SIZES if one <= most]:
        for seed in range(4):
            for large in (1e-38, 1, 1e30, 1e37):
                given = heads(size, pattern, seed)
                given["v"] *= F(large)
                with np.errstate(all="ignore"):
                    assert mean_verdict(given, kernel(given)) in ("kept", "not judged"), (size, seed, large)


def rescaled_and_folded(keys: Array, v: Array) -> Array:
    """One query of 1, a shift that is multiplied by log2 e by itself, and rounded, at each key."""
    m, total, o = F(-np.inf), F(0), F(0)
    for s, value in zip(keys, v, strict=True):
        new = max(m, s)
        e, old = (np.exp2(F(np.float64(one) * LOG2E - np.float64(new * LOG2E))) for one in (s, m))
        total, o, m = F(total * old + e), F(o * old + e * value), new
    return np.array([[[o / total]]])


def test_each_rescale_may_round_a_folded_shift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rising keys near 2^20 whose products with log2 e are all rounded down: the first share is 15 times its size."""
    keys = (2.0**20 + np.arange(400) * 0.125).astype(F)
    keys = keys[(keys * LOG2E).astype(np.float64) - keys.astype(np.float64) * LOG2E < -0.3 * 0.125]
    v = np.eye(1, len(keys), dtype=F)[0]
    given = {"q": np.ones((1, 1, 1), F), "k": keys.reshape(1, -1, 1), "v": v.reshape(1, -1, 1)}
    got = rescaled_and_folded(keys, v)
    assert mean_verdict(given, got, 1.0) != "broken"
    monkeypatch.setattr(Loosest, "_folded", lambda *_: np.zeros(()))
    assert mean_verdict(given, got, 1.0) == "broken"


def test_a_mean_whose_scores_or_sums_overflow_is_not_judged() -> None:
    """In another order a score is a number; and 3e37 times an exponential above 1 is none before it is divided."""
    given = {"q": [[[3e38, 3e38]]], "k": [[[1.5, -1.4], [0, 0]]], "v": [[[1], [2]]]}
    assert mean_verdict({role: np.array(one, F) for role, one in given.items()}, np.full((1, 1, 1), np.nan), 1) == (
        "not judged"
    )
    for large, status in ((1.0, "broken"), (3e37, "not judged")):
        folded = heads(3e7, "equal", 0)
        folded["v"] *= F(large)
        assert mean_verdict(folded, np.full((1, 4, 5), np.nan)) == status


def test_a_mean_of_no_number_is_judged_as_before() -> None:
    given = heads(1e7, "signed", 0)
    given["v"] = np.full_like(given["v"], np.inf)
    assert mean_verdict(given, np.full((1, 4, 5), np.inf)) == "not judged"
