"""docs/numerics.md#overflow: near the largest float a right kernel may overflow, and a wrong one is found."""

from dataclasses import replace

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.accuracy.rounding import Denominator
from kfuzz.oracle.numbers.elements import F32, Reals
from kfuzz.oracle.numbers.verdict import Reason, Status, Why
from kfuzz.oracle.systems.band import Bands

LARGE, INF = 3e38, np.inf
THREE_PASS = Accuracy(rescales=0)


def rows(*parts: float | list[float]) -> Reals:
    """[1, n, 1] of these numbers."""
    return np.concatenate([np.atleast_1d(part) for part in parts]).astype(np.float32).reshape(1, -1, 1)


def weigh_online(scores: list[float], v: Reals, first_shift: float | None = None) -> Reals:
    """Attention in float32, key by key: sums are scaled down whenever the running maximum rises."""
    f = np.float32
    m, s, o = f(-INF if first_shift is None else first_shift), f(0), f(0)
    with np.errstate(all="ignore"):
        for x, one in zip(np.array(scores, f), v.ravel(), strict=True):
            top = max(m, x) if first_shift is None else m
            fall, e = np.exp(m - top), np.exp(x - top)
            o, s, m = o * fall + e * one, s * fall + e, top
        return np.array(o / s, f).reshape(1, 1, 1)


def judge_attention(scores: list[float], v: Reals, got: Reals | float, claim: Accuracy) -> Status:
    k = np.array(scores, np.float32).reshape(1, -1, 1)
    inputs = {"q": np.ones((1, 1, 1), np.float32), "k": k, "v": v}
    return judge("attention", inputs, {"o": np.full((1, 1, 1), got, np.float32)}, claim).status


SCORES = [0.0] * 32 + [5.0]
TWICE, ONCE = rows([-LARGE, -LARGE], [0.0] * 31), rows([-LARGE], [0.0] * 32)


@pytest.mark.parametrize("denominator", ["row", "element"])
def test_a_weighted_sum_may_overflow_before_the_maximum_arrives(denominator: Denominator) -> None:
    claim = Accuracy(denominator=denominator)
    got = weigh_online(SCORES, TWICE)
    assert got == -INF
    assert judge_attention(SCORES, TWICE, got, claim) == "not judged"
    assert judge_attention(SCORES, TWICE, -3.3e36, claim) == "not judged"
    assert judge_attention(SCORES, ONCE, weigh_online(SCORES, ONCE), claim) == "kept"
    assert judge_attention(SCORES, ONCE, -INF, claim) == "broken"  # no order of one number overflows
    assert judge_attention(SCORES, TWICE, got, replace(claim, rescales=0)) == "broken"  # nothing is scaled down later


def test_a_key_that_is_hidden_weighs_nothing_at_any_time() -> None:
    k, v = np.array([0, 0, 0, 1], np.float32).reshape(1, 4, 1), rows([1.0, 2.0, -LARGE, -LARGE])
    inputs = {"q": np.ones((1, 1, 1), np.float32), "k": k, "v": v}
    for mask, got, status in ((-INF, -INF, "broken"), (-INF, 1.5, "kept"), (-200.0, -INF, "not judged")):
        hidden = {"mask": np.array([[0, 0, mask, mask]], np.float32)}
        answer = {"o": np.full((1, 1, 1), got, np.float32)}
        assert judge("masked_attention", inputs | hidden, answer).status == status


def test_where_nothing_is_subtracted_a_weighted_sum_overflows_by_its_exponents() -> None:
    """Two keys of e^80 = 5.5e34, each with 1e4: the sum of exps is a number, the weighted one is not."""
    claim, scores = Accuracy(shift="zero", rescales=0, divide="ieee"), [80.0, 80.0]
    large, small = rows(1e4, 1e4), rows(1e2, 1e2)
    got = weigh_online(scores, large, first_shift=0.0)
    assert got == INF
    assert judge_attention(scores, large, got, claim) == "not judged"
    assert judge_attention(scores, small, weigh_online(scores, small, first_shift=0.0), claim) == "kept"
    assert judge_attention(scores, small, INF, claim) == "broken"
    assert judge_attention([100.0, 100.0], small, np.nan, claim) == "broken"  # exp itself is infinite


def test_a_sum_in_double_may_be_cast_before_it_is_divided() -> None:
    claim, scores = Accuracy(accumulate="f64", rescales=0), [0.0] * 4
    assert judge_attention(scores, rows([LARGE] * 4), INF, claim) == "not judged"
    assert judge_attention(scores, rows([LARGE] * 4), INF, replace(claim, form="normalize first")) == "broken"
    assert judge_attention(scores, rows([LARGE / 8] * 4), INF, claim) == "broken"


def test_the_sum_of_exponentials_may_overflow_before_the_maximum_arrives() -> None:
    """In a slack of 10 each of four terms is e^10 before the fifth arrives, and 65504 is the largest f16."""
    x, top = np.array([[0.0] * 4 + [30.0]]), np.array([[0.0] * 4])
    claim = Accuracy(accumulate="f16", shift_slack=10.0, divide="ieee")
    for numbers, held, is_open in ((x, claim, True), (x, replace(claim, shift_slack=1.0), False), (top, claim, True)):
        N = Bands(held, {})
        made = N.sum(N.exp(N.input(numbers) - N.shift(N.input(numbers))))
        assert bool(made.hi.max() == INF) == is_open
    row = np.zeros((1, 3), np.float32)
    for got, slack, status in ((0.0, 88.0, "not judged"), (0.0, 80.0, "broken"), (1 / 3, 80.0, "kept")):
        answer = {"y": np.full((1, 3), got, np.float32)}
        verdict = judge("softmax", {"x": row}, answer, Accuracy(shift_slack=slack, divide="ieee", rescales=0))
        assert verdict.status == status
        assert status != "not judged" or Reason(Why.ORDER_DECIDES, 1) in verdict.reasons


def test_a_sum_that_may_just_overflow_is_not_judged_and_one_that_must_is_the_kernels_fault() -> None:
    claim = Accuracy(adds=200, shift="zero", rescales=0, divide="ieee")
    edge = np.log(F32.max / 2)
    for x, status in ((edge, "not judged"), (edge - 1e-3, "broken"), (edge + 1e-3, "broken")):
        row = np.full((1, 2), x, np.float32)
        assert judge("softmax", {"x": row}, {"y": np.zeros((1, 2), np.float32)}, claim).status == status


def test_a_product_of_exponentials_is_rescaled_as_often_as_their_sum() -> None:
    """Each of 40 rescales by e^-0.01, with an exp that errs by 4 u, takes a sum of two products 160 u further."""
    claim, up = Accuracy(adds=2, rescales=40, shift_slack=1.0), np.float32(1 + 4 * F32.u)
    total = np.float32(2)
    for _ in range(40):
        total = np.float32(total * np.float32(np.exp(-0.01) * up))
    got = float(total) * np.exp(0.4)
    for held, is_sound in ((claim, True), (replace(claim, rescales=0), False)):
        N = Bands(held, {})
        x = N.input(np.zeros((1, 2)))
        made = N.matmul(N.exp(x - N.shift(x)), N.input(np.ones((2, 1))))
        assert (got <= made.hi[0, 0]) == is_sound


def test_a_value_beyond_the_format_that_holds_it_may_be_infinite() -> None:
    x = np.array([100.0, 300.0])
    N = Bands(replace(Accuracy(), keep={"square": "f16"}), {})
    made = N.keep(N.input(x) * N.input(x), "square") * 1e-3
    assert made.hi[0] < 11
    assert (made.lo[1] < 91, made.hi[1]) == (True, INF)


def test_a_negative_product_is_as_open_as_a_positive_one_where_a_part_of_it_may_overflow() -> None:
    # rstd w is infinite, and the gradient before it may be 0
    given = {
        "x": np.float32([[[0.0]], [[-1.0]]]),
        "mean": np.float32([-0.5]),
        "rstd": np.float32([2.0]),
        "w": np.float32([3.389531e38]),
        "g": np.float32([[[-3e14]], [[2e-24]]]),
    }
    got = {"dx": np.full((2, 1, 1), np.nan, np.float32), "dw": np.float32([-3e14]), "db": np.float32([-3e14])}
    assert judge("batch_norm_backward", given, got, Accuracy(form="means")).status == "kept"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_root_that_may_be_infinite_times_a_part_that_underflows_is_nan(sign: int) -> None:
    # the variance underflows to 0, so that 1 / sqrt(var) is infinite, and (x - mean) w is 0
    x = sign * np.float32([[3e-45, 8e-45, 3e-45, -6e-45]])
    given = {"x": x, "w": np.full(4, 1e-23, np.float32), "b": np.full(4, 0.5, np.float32)}
    got = {"y": np.full((1, 4), np.nan, np.float32)}
    assert judge("layer_norm", given, got, Accuracy(form="two pass"), scalars={"eps": 0.0}).status in (
        "kept",
        "not judged",
    )
