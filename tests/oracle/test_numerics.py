"""docs/numerics.md, lemma by lemma: a correct float32 kernel is kept, and lies outside without the lemma."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import EXPF, FAST_EXPF, Accuracy, ExpModel, Special, judge
from kfuzz.oracle.accuracy.counts import compensated_growth
from kfuzz.oracle.accuracy.rounding import EXP2_SCALED, U
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.systems import base_two, room
from kfuzz.oracle.systems.ends import SUM_DEPTH, FloatEnds
from kfuzz.oracle.systems.exp_sum import enclose_sums
from tests.oracle.selfcheck import algorithms as on
from tests.oracle.selfcheck import base_two as in_base_two
from tests.oracle.selfcheck.algorithms import SEQUENTIAL, TREE, total
from tests.oracle.selfcheck.number import Balls, Float32

ROUNDED = ExpModel(1, 0)
"""An exp that is correctly rounded, so that of all errors only those of the lemma are large."""

THREE_PASS = Accuracy(adds=1, rescales=0, divide="ieee", exp=ROUNDED)
Floats = NDArray[np.float32]


def status(op: str, x: Floats, answer: Floats, claim: Accuracy) -> str:
    (output,) = find(op).outputs
    return judge(op, {"x": x}, {output: answer}, claim).status


def relative_error(x: Floats, y: Floats) -> NDArray[np.float64]:
    """Of a softmax, against balls."""
    exact = on.three_pass(Balls(), Balls().embed(x)).astype(np.float64)
    return np.abs(y / exact - 1)


@pytest.mark.parametrize("exp", [ROUNDED, EXPF, FAST_EXPF, ExpModel(5.0, 600.0)])
def test_one_factor_has_a_second_order(exp: ExpModel) -> None:
    ubar, most = Accuracy(exp=exp).ubar, exp.a0 + (1 + exp.kappa) * 104
    for k in np.linspace(1, most, 50):
        assert k * U < -np.log1p(-k * U) <= k * ubar


def test_a_difference_is_rounded_before_its_exp_is_taken() -> None:
    top = np.linspace(2.0**-20, 2.0**-18, 500, dtype="f4")
    x = np.stack([top, np.full(500, -80, "f4")], axis=1)
    y = on.three_pass(Float32(), x)
    assert status("softmax", x, y, THREE_PASS) == "kept"
    counted = 5 * U  # two exps, the sum, the division, and this comparison
    assert relative_error(x, y)[:, 1].max() > counted


def summed(x: Floats, claim: Accuracy) -> tuple[Floats, NDArray[np.float64], NDArray[np.float64]]:
    """What a max_sum answers, the exact sum, and what the counted roundings alone may add to it."""
    s = on.max_sum(Float32(accumulate=claim.accumulate), x)[1]
    judged = judge("max_sum", {"x": x}, {"m": x.max(axis=1), "s": s}, claim)
    assert judged.status == "kept"
    exact = enclose_sums(x.astype("f8"), np.ones(x.shape), claim, first_exp=True).total
    return s, exact, np.expm1((claim.exp.a0 + 1) * claim.ubar)


def test_the_exponents_of_a_sum_are_rounded_too() -> None:
    x = np.full((1, 2**14), np.float32(-7.9))
    x[0, 0] = 2.0**-22 * 0.99
    s, exact, counted = summed(x, Accuracy(rescales=0, accumulate="f64", exp=ROUNDED))
    assert abs(s[0] / exact[0] - 1) > 1.3 * counted


def test_a_product_that_underflows_on_the_way_into_a_sum_is_lost_with_its_weight() -> None:
    m, s = np.array([0, -100], "f4"), np.array([1e-30, 1e30], "f4")
    got = on.merge_all(Float32(), m[None], s[None], SEQUENTIAL)
    claim = Accuracy(adds=1, rescales=1, exp=ROUNDED)
    inputs = {"m": m, "s": s}
    assert judge("merge_all", inputs, {"m": got[0], "s": got[1]}, claim).status == "kept"
    want = enclose(find("merge_all"), inputs, claim, Special())["s"].want[0]
    counted = np.expm1((1 + 1 + 2 * 1 + 100 + 1) * claim.ubar)
    assert abs(got[1][0] / want - 1) > 100 * counted


def shifted(x: Floats, low: Floats, high: Floats) -> Floats:
    """Softmax whose sum begins with `low` subtracted and is rescaled to `high`."""
    N = Float32()
    s = total(N, N.exp(N.sub(x, low)), TREE)
    s = s if (low == high).all() else N.mul(s, N.exp(N.sub(low, high))[:, 0])
    return np.asarray(N.div(N.exp(N.sub(x, high)), s[:, None]))


def test_a_shift_above_the_maximum_makes_numerators_underflow_sooner() -> None:
    rng = np.random.default_rng(2)
    x = np.stack([np.zeros(500), rng.uniform(-61, -59, 500)], axis=1).astype("f4")
    high = x.max(axis=1, keepdims=True) + np.float32(40)
    y = shifted(x, high, high)
    claim = replace(THREE_PASS, shift_slack=40.01)
    assert status("softmax", x, y, claim) == "kept"
    without = (100 + 5) * U + 2.0**-150 / np.exp(-61)  # roundings, and an underflow at the maximum's own scale
    assert relative_error(x, y)[:, 1].max() > without


def test_a_rescale_over_twice_the_slack_underflows_sooner_still() -> None:
    """exp(-100) is 27 units of the least denormal: wrong by a hundredth, and with it the whole sum."""
    rng = np.random.default_rng(1)
    x = (rng.uniform(-8, 8, (500, 1)) + rng.uniform(0, 1e-2, (500, 4))).astype("f4")
    top, g = x.max(axis=1, keepdims=True), np.float32(50)
    y = shifted(x, top - g, top + g)
    claim = replace(THREE_PASS, adds=2, rescales=1, shift_slack=50.01)
    assert status("softmax", x, y, claim) == "kept"
    counted = np.expm1((2 * 3 + 2 + 3 * 50 + 50) * claim.ubar)
    one_slack = 8 * claim.eta0 * np.exp(50)
    assert relative_error(x, y).max() > 100 * (counted + one_slack)


def test_where_nothing_is_subtracted_exps_underflow_far_from_the_maximum() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-100, -90, (200, 3)).astype("f4")
    y = on.unshifted(Float32(), x)
    claim = replace(THREE_PASS, adds=2, shift="zero")
    assert status("softmax", x, y, claim) == "kept"
    counted = np.expm1((2 * 1 + 2 + 1) * claim.ubar)
    assert relative_error(x, y).max() > 1e3 * counted
    assert status("softmax", x, y, replace(claim, shift="any")) == "broken"


@pytest.mark.parametrize("divide", ["reciprocal", "fast reciprocal"])
def test_a_sum_whose_reciprocal_is_denormal_is_not_judged(divide: str) -> None:
    x = np.array([[88.2], [80]], "f4")
    y = on.unshifted(Float32(divide=divide, ftz=True), x)
    assert y[0] == 0
    claim = Accuracy(adds=0, rescales=0, shift="zero", divide=divide, ftz=True)
    verdict = judge("softmax", {"x": x}, {"y": y}, claim)
    assert (verdict.status, verdict.judged) == ("kept", 1)
    assert verdict.reasons == (Reason(Why.DIVIDED_SUM, 1, divide),)
    assert status("softmax", x, y, replace(claim, divide="ieee")) == "broken"


def test_a_sum_that_is_sure_to_overflow_is_judged() -> None:
    x = np.array([[89, 0]], "f4")
    y = np.array([[0, 0]], "f4")
    assert status("softmax", x, y, Accuracy(adds=1, rescales=0, shift="zero")) == "broken"


def relative_to_size(x: Floats, got: float) -> float:
    """The error of a sum in units of u, relative to the sum of absolute values, exactly."""
    terms = [Fraction(float(v)) for v in x]
    return float(abs(Fraction(float(got)) - sum(terms)) / sum(abs(t) for t in terms) / Fraction(U))


def test_every_addition_may_round_the_same_way() -> None:
    x = np.full((1, 101), 2.0**-24 * 1.001, "f4")
    x[0, 0] = 1
    y = on.row_sum(Float32(), x, SEQUENTIAL)
    assert status("row_sum", x, y, Accuracy(adds=100)) == "kept"
    assert status("row_sum", x, y, Accuracy(adds=98)) == "broken"


def test_kahan_loses_more_than_twice_where_a_term_exceeds_the_sum_before_it() -> None:
    x = np.array([[4173674, 2177412, 3797743.5, 37775084, 3287646.25, 69464224, 6174788.5, 10104259]], "f4")
    y = on.row_sum(Float32(accumulate="compensated"), x, SEQUENTIAL)
    assert status("row_sum", x, y, Accuracy(adds=8, accumulate="compensated")) == "kept"
    assert relative_to_size(x[0], y[0]) > compensated_growth(8.0) - 1 + 2.0**-5


def neumaier(x: Floats) -> Floats:
    """Every addition's error is added up apart, and joined at the end."""
    s = excess = np.float32(0)
    for value in x:
        t = s + value
        excess += (s - t) + value if abs(s) >= abs(value) else (value - t) + s
        s = t
    return np.array([s + excess], "f4")


@pytest.mark.slow
def test_neumaier_loses_the_second_order_of_its_errors() -> None:
    n = 100_000
    x = np.full((1, n), 0.7, "f4")
    y, claim = neumaier(x[0]), Accuracy(adds=n - 1, accumulate="compensated")
    assert status("row_sum", x, y, claim) == "kept"
    assert status("row_sum", x, np.array([np.cumsum(x[0])[-1]]), claim) == "broken"
    assert relative_to_size(x[0], y[0]) > 3 + 8 * n * U


def test_partial_sums_joined_exactly_are_a_compensated_sum() -> None:
    x = np.full((1, 4001), 0.7, "f4")
    N = Float32(accumulate="compensated")
    claim = Accuracy(adds=12, accumulate="compensated")
    assert status("row_sum", x, on.row_sum(N, x, TREE), claim) == "kept"
    assert status("row_sum", x, on.row_sum(Float32(), x, SEQUENTIAL), claim) == "broken"


def test_a_double_sum_is_rounded_once_more_on_its_way_to_float32() -> None:
    x = np.array([[1, 2.0**-24]], "f4")
    y = on.row_sum(Float32(accumulate="f64"), x)
    assert status("row_sum", x, y, Accuracy(adds=1, accumulate="f64")) == "kept"
    assert relative_to_size(x[0], y[0]) > 0.9 > 2 * 2.0**-53 / U


def test_a_product_is_rounded_before_it_is_added() -> None:
    a, b = np.array([[1 + 2.0**-12]], "f4"), np.array([[1 + 2.0**-12]], "f4")
    c = on.sgemm(Float32(), a, b)
    assert judge("sgemm", {"a": a, "b": b}, {"c": c}, Accuracy(adds=0)).status == "kept"
    assert abs(float(c[0, 0]) - float(a[0, 0]) * float(b[0, 0])) > 0


def test_what_is_flushed_early_is_amplified_by_no_more_than_the_rest() -> None:
    x = np.full((1, 2), 2.0**-127, "f4")
    x = np.concatenate([x, np.ones((1, 1), "f4")], axis=1)
    loose = enclose(find("row_sum"), {"x": x}, Accuracy(adds=2**24, ftz=True), Special())["y"]
    tight = enclose(find("row_sum"), {"x": x}, Accuracy(adds=2**24), Special())["y"]
    grown = np.expm1(2**24 * Accuracy().ubar)
    assert loose.hi[0] - tight.hi[0] == pytest.approx(5 * 2.0**-126 * (1 + grown), abs=2.0**-50)


def test_flushed_additions_and_inputs_are_lost() -> None:
    """2^-126 and -1.5 * 2^-126 leave a denormal, which is flushed; a denormal input is gone before it is added."""
    x = np.array([[2.0**-126, -1.5 * 2.0**-126], [2.0**-127, 0]], "f4")
    y = on.row_sum(Float32(ftz=True), x)
    assert (y == 0).all()
    for row, answer in zip(x, y, strict=True):
        assert status("row_sum", row[None], answer[None], Accuracy(ftz=True)) == "kept"
        assert status("row_sum", row[None], answer[None], Accuracy()) == "broken"


def test_a_denormal_answer_is_rounded_to_the_denormals() -> None:
    x = np.array([[0, -100]], "f4")
    y = on.three_pass(Float32(), x)
    assert status("softmax", x, y, THREE_PASS) == "kept"
    assert relative_error(x, y)[0, 1] > (100 + 5) * U
    flushed = on.three_pass(Float32(ftz=True), x)
    assert flushed[0, 1] == 0
    assert status("softmax", x, flushed, replace(THREE_PASS, ftz=True)) == "kept"
    assert status("softmax", x, flushed, THREE_PASS) == "broken"


def test_a_state_off_its_maximum_is_off_by_e_to_the_slack() -> None:
    x = np.array([[1, 2, 3]], "f4")
    high = np.float32(4)
    s = total(Float32(), np.exp((x - high).astype("f8")).astype("f4"), TREE)
    claim = Accuracy(adds=2, rescales=0, exp=ROUNDED, shift_slack=1)
    got = {"m": np.array([high], "f4"), "s": s}
    assert judge("max_sum", {"x": x}, got, claim).status == "kept"
    row = enclose_sums(x.astype("f8"), np.ones(x.shape), claim, first_exp=True)
    assert s[0] < row.lo[0]


def test_a_rescale_multiplies_and_takes_another_exp() -> None:
    rng = np.random.default_rng(4)
    m = rng.uniform(-1, 0, (2, 4000)).astype("f4")
    s = rng.uniform(1, 2, (2, 4000)).astype("f4")
    top, got = on.safe_merge(Float32("high2"), (m[0], s[0]), (m[1], s[1]))
    inputs = {"m1": m[0], "s1": s[0], "m2": m[1], "s2": s[1]}
    answer = {"m": top, "s": got}
    assert judge("safe_merge", inputs, answer, Accuracy(adds=1, rescales=1)).status == "kept"
    assert judge("safe_merge", inputs, answer, Accuracy(adds=1, rescales=0)).status == "broken"


def test_one_sum_must_fit_all_elements_of_a_row() -> None:
    """Each element alone could be right; divided by one and the same sum, they cannot both be."""
    x = np.zeros((1, 100), "f4")
    y = np.full((1, 100), 0.01, "f4")
    y[0, ::2] *= np.float32(1 + 2.0**-20)
    claim = Accuracy(adds=99, rescales=0)
    assert status("softmax", x, y, replace(claim, denominator="element")) == "kept"
    assert status("softmax", x, y, claim) == "broken"
    joint = enclose(find("softmax"), {"x": x}, claim, Special())["y"].joint
    assert joint is not None
    assert not list(joint(on.three_pass(Float32(), x).astype("f8")))


def test_with_an_exact_shift_the_rounded_difference_is_the_definition() -> None:
    top = np.linspace(2.0**-20, 2.0**-18, 500, dtype="f4")
    x = np.stack([top, np.full(500, -80, "f4")], axis=1)
    N = Float32()
    exact = replace(THREE_PASS, exact_shift=True)
    assert status("softmax", x, on.three_pass(N, x), exact) == "kept"
    off = top[:, None] + np.float32(2.0**-19)  # as right a shift as any, and another one
    y = shifted(x, off, off)
    assert status("softmax", x, y, exact) == "broken"
    assert status("softmax", x, y, replace(THREE_PASS, shift_slack=2.0**-18)) == "kept"


def test_a_maximum_below_which_all_is_denormal_may_be_any_of_them() -> None:
    x = np.array([[-(2.0**-130), -(2.0**-131)]], "f4")
    other = np.array([-(2.0**-130)], "f4")
    assert status("row_max", x, other, Accuracy(ftz=True)) == "kept"
    assert status("row_max", x, other, Accuracy()) == "broken"


def flash(x: Floats, fused: bool = True) -> Floats:
    """exp2(fma(x, log2e, -m * log2e)) over its sum, as FlashAttention has it."""
    return np.asarray(in_base_two.three_pass(Float32(), x, fused=fused))


@pytest.mark.parametrize("fused", [True, False])
def test_an_exponent_in_base_two_is_no_difference_rounded(fused: bool) -> None:
    rng = np.random.default_rng(7)
    x = (1000 + rng.standard_normal((300, 33))).astype("f4")
    y = flash(x, fused)
    claim = replace(THREE_PASS, adds=6, exp=EXP2_SCALED)
    assert status("softmax", x, y, claim) == "kept"
    if not fused:  # the product of x is rounded: by up to 1000 u, another for each element
        assert status("softmax", x, y, replace(claim, exp=ExpModel(5, 0.25))) == "broken"


def test_in_base_two_exp_of_the_maximum_is_not_one() -> None:
    """m log2e is rounded and x log2e is not: relative to the maximum all is e^(m u) off, and cancels in a softmax."""
    x = np.linspace(1000, 1001, 20, dtype="f4")[:, None] - np.array([[0, 1]], "f4")
    N = Float32()
    e = in_base_two.exp_scaled(N, x, x[:, :1], fused=True)
    assert abs(e[:, 0] - 1).max() > 500 * U
    claim = Accuracy(adds=1, rescales=0, exp=EXP2_SCALED)
    got = {"m": x[:, 0], "s": total(N, e, TREE)}
    assert judge("max_sum", {"x": x}, got, claim).status == "kept"
    assert judge("max_sum", {"x": x}, got, replace(claim, exp=EXPF)).status == "broken"


def test_a_rescale_in_base_two_may_be_of_other_products() -> None:
    rng = np.random.default_rng(8)
    x = (1e7 + 8 * rng.standard_normal((50, 257))).astype("f4")
    y = np.asarray(in_base_two.online(Float32(), x, fused=True, of_difference=False))
    claim = replace(THREE_PASS, adds=9, rescales=9, exp=EXP2_SCALED)
    assert status("softmax", x, y, claim) == "kept"
    assert status("softmax", x, y, replace(claim, rescales=0)) == "broken"


def test_base_two_is_not_judged_where_neighbours_are_more_than_one_apart() -> None:
    x = np.array([[3e38, 0], [0, -3e38]], "f4")
    for rescales, judged in ((0, 2), (1, 0)):
        claim = replace(THREE_PASS, rescales=rescales, exp=EXP2_SCALED)
        verdict = judge("softmax", {"x": x}, {"y": np.array([[np.nan, np.nan], [1, 0]], "f4")}, claim)
        assert verdict.judged == judged
        assert verdict.reasons == (Reason(Why.BASE_TWO, 2 - judged // 2),)
    assert not base_two.is_beyond(x.max(axis=1), x, Accuracy()).any()


def test_log2_of_e_is_not_a_float() -> None:
    error = (float(in_base_two.LOG2_E) / np.log2(np.e) - 1) / U
    assert 0.2 < abs(error) <= base_two.LOG2_E


def test_an_addition_that_is_cut_errs_as_two_that_are_rounded() -> None:
    long = np.random.default_rng(3).uniform(1, 2, (200, 33)).astype(np.float32)
    for x in (long, np.float32([[-0.45, 12.0]])):  # -0.45 + 12 is 1.04 u off where it is cut
        y = cut_sums(x)
        for adds in (x.shape[1] - 1, None):
            assert status("row_sum", x, y, Accuracy(adds=adds, additions="directed")) == "kept"
    assert status("row_sum", x, y, Accuracy(adds=1)) == "broken"


def cut_sums(x: Floats) -> Floats:
    """Each row added up one after the other, toward zero."""
    total = np.zeros(len(x))
    for term in x.T.astype(np.float64):
        near = (total + term).astype(np.float32)
        total = np.where(near > total + term, np.nextafter(near, np.float32(0)), near).astype(np.float64)
    return total.astype(np.float32)


@pytest.mark.parametrize("count", [16, 256, 4096, 16384])
def test_room_for_roundings_holds_their_second_order(count: int) -> None:
    """It holds `count` roundings, or one of as many units, and not four times as many."""
    factor = Fraction(vars(room)[f"ROUNDINGS_{count}"])
    u = Fraction(1, 2**24)
    assert (1 + u) ** count - 1 <= count * u * factor
    assert (1 - count * u) ** -1 - 1 <= count * u * (1 + 2 * (factor - 1))
    assert (1 + u) ** (4 * count) - 1 > 4 * count * u * factor


def test_a_sum_errs_by_its_depth_along_any_axis() -> None:
    """numpy itself adds in sequence along an axis that is not contiguous, and loses more than a bound has room for."""
    n = 100_000
    contiguous = np.full((2, n), 0.1)
    strided = np.full((n, 2), 0.1)
    exact = n * Fraction(0.1)
    for x, axis in ((contiguous, -1), (contiguous.T, -2), (strided, -2), (strided.T, -1)):
        lo, hi = (Fraction(float(end.flat[0])) for end in FloatEnds().total(x, x, axis))
        assert lo <= exact <= hi
        assert hi - lo <= (4 * SUM_DEPTH + 4) * Fraction(1, 2**53) * exact
    for x, axis in ((strided, -2), (strided.T, -1)):
        off = abs(Fraction(float(x.sum(axis=axis)[0])) - exact) / exact
        assert off > Fraction(1, 2**40) > SUM_DEPTH * Fraction(1, 2**53)
