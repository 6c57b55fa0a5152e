"""The enclosure: the same in float64 and in balls, wide enough for correct answers, too narrow for wrong ones."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kfuzz import oracle
from kfuzz.oracle import FAST_EXPF, Accuracy, ExpModel, Order, Special, judge
from kfuzz.oracle.accuracy.rounding import Divide
from kfuzz.oracle.bounds.question import MOST_IN_BALLS, Question, enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F64, store
from kfuzz.oracle.numbers.enclosure import Bounds, Enclosure, compare, is_outside, tree_sum
from kfuzz.oracle.proof.hard_rows import family_rows
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import BallEnds, FloatEnds
from kfuzz.oracle.systems.exp_sum import exponents_are_exact
from kfuzz.oracle.systems.intervals import widen_by_underflow, widen_relative
from tests.oracle.selfcheck.algorithms import TREE, total
from tests.oracle.selfcheck.number import Float32
from tests.oracle.selfcheck.soundness import VARIANTS, wrong_bounds

LONG_KNOWN = ("max_sum", "merge_all", "row_max", "row_sum", "safe_merge", "sgemm", "softmax")
"""The ops that take what `inputs_of` makes; every formula has its own tests."""

CLAIMS = (
    Accuracy(),
    Accuracy(adds=12, rescales=0, divide="ieee"),
    Accuracy(adds=7, rescales=3, exp=FAST_EXPF, divide="fast", ftz=True),
    Accuracy(accumulate="f64", shift_slack=3.5),
    Accuracy(accumulate="compensated", rescales=0),
    Accuracy(adds=50_000, accumulate="compensated", divide="fast reciprocal"),
    Accuracy(order=Order("strided", 32), rescales=0, exact_shift=True),
    Accuracy(order=Order("sequential")),
    Accuracy(adds=7, rescales=5, shift="running max"),
    Accuracy(adds=7, shift="running max", exp=FAST_EXPF, accumulate="f64"),
)
UNSHIFTED = Accuracy(adds=9, shift="zero", exp=FAST_EXPF)


def inputs_of(op: str, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = family_rows(33, seed)[:, :33]
    states = {"m": np.array([0, -np.inf, -200, 3], dtype="f4"), "s": np.array([1, 7, 1e30, 2.5], dtype="f4")}
    other = {"m2": np.array([-np.inf, 4, -200, 90], dtype="f4"), "s2": np.array([1, 9, 3e38, 1], dtype="f4")}
    match op:
        case "merge_all":
            return states
        case "safe_merge":
            return {"m1": states["m"], "s1": states["s"], **other}
        case "sgemm":
            return {"a": rng.standard_normal((3, 9)).astype("f4"), "b": rng.standard_normal((9, 4)).astype("f4")}
        case _:
            return {"x": x}


@pytest.mark.parametrize("accuracy", CLAIMS)
@pytest.mark.parametrize("op", LONG_KNOWN)
def test_float64_bounds_hold_those_of_the_balls_and_are_hardly_wider(op: str, accuracy: Accuracy) -> None:
    assert_float64_and_balls_agree(op, inputs_of(op, 1), accuracy)


def test_float64_bounds_hold_those_of_the_balls_where_nothing_is_subtracted() -> None:
    x = inputs_of("softmax", 1)["x"]
    within = np.where(np.isfinite(x), np.clip(x, -80, 80), x)
    assert_float64_and_balls_agree("softmax", {"x": within}, UNSHIFTED)


def assert_float64_and_balls_agree(op: str, inputs: dict[str, np.ndarray], accuracy: Accuracy) -> None:
    for role, enclosure in enclose(find(op), inputs, accuracy, Special()).items():
        bounded = np.isfinite(enclosure.lo) & np.isfinite(enclosure.hi)
        for index in np.argwhere(enclosure.judged & bounded):
            place = tuple(int(i) for i in index)
            with ctx.workprec(200):
                balls = enclosure.exact(place, 200)
            lo, hi = float(balls.lo.upper()), float(balls.hi.lower())
            slack = max(float(enclosure.slack_hi[place]), float(enclosure.slack_lo[place])) + 2.0**-52 * abs(hi)
            second_order = 2.0**-30 * max(abs(lo), abs(hi))  # e^cd against 1 + c (1 + 104 c) d
            assert enclosure.lo[place] - slack <= lo <= enclosure.lo[place] + slack + second_order, (role, place)
            assert enclosure.hi[place] + slack >= hi >= enclosure.hi[place] - slack - second_order, (role, place)
            assert bool(balls.lo <= balls.want <= balls.hi)


@pytest.mark.parametrize("op", LONG_KNOWN)
def test_mpmath_lies_where_the_float64_want_says(op: str) -> None:
    inputs = {role: array[:6] if op in ("softmax", "max_sum") else array for role, array in inputs_of(op, 2).items()}
    exact = oracle.want(op, inputs, digits=40)
    for role, enclosure in enclose(find(op), inputs, Accuracy(), Special()).items():
        known = enclosure.judged & np.isfinite(enclosure.want)
        slow = exact[role].astype(np.float64)[known]
        assert (np.abs(enclosure.want[known] - slow) <= 2.0**-44 * np.abs(slow) + enclosure.slack_hi[known]).all()


def test_want_has_any_number_of_digits() -> None:
    y = oracle.want("softmax", {"x": np.array([0, 0, 0], dtype="f4")}, digits=60)["y"]
    assert str(y[0, 0]).startswith("0." + "3" * 60)


@settings(max_examples=50)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=200))
def test_tree_sum_errs_by_its_depth(terms: list[float]) -> None:
    size = sum(abs(t) for t in terms)
    depth = max(1, len(terms)).bit_length()
    assert abs(tree_sum(np.array(terms, dtype=np.float64)) - math.fsum(terms)) <= depth * 2.0**-53 * size


def test_a_tighter_claim_gives_a_narrower_enclosure() -> None:
    x = {"x": family_rows(100, 3)[:4]}
    loose = enclose(find("softmax"), x, Accuracy(), Special())["y"]
    tighter = (
        Accuracy(adds=7),
        Accuracy(shift="running max"),
        Accuracy(rescales=0),
        Accuracy(divide="ieee"),
        Accuracy(accumulate="f64"),
    )
    for claim in tighter:
        narrow = enclose(find("softmax"), x, claim, Special())["y"]
        assert (narrow.hi - narrow.lo).sum() < (loose.hi - loose.lo).sum()


def test_a_running_maximum_rescales_only_what_it_rises_above() -> None:
    """Of two values apart by an exact difference the lower is rescaled once, whatever is claimed at most."""
    x = {"x": np.array([[0, -3, 0, -3]], dtype="f4")}
    one, many = (
        enclose(find("softmax"), x, Accuracy(adds=2, rescales=times, shift="running max"), Special())["y"]
        for times in (1, 40)
    )
    assert (one.lo == many.lo).all()
    assert (one.hi == many.hi).all()
    any_shift = enclose(find("softmax"), x, Accuracy(adds=2, rescales=1), Special())["y"]
    assert (any_shift.hi > one.hi).all()


def test_a_rescale_counts_for_the_terms_at_the_maximum_too() -> None:
    """What is subtracted need not be a maximum: one rescale is two exps of 5 units and a product more, even there."""
    x = {"x": np.zeros((1, 4), dtype="f4")}
    once, never = (
        float(enclosure.hi[0, 0] / enclosure.want[0, 0])
        for enclosure in (enclose(find("softmax"), x, Accuracy(adds=2, rescales=n), Special())["y"] for n in (1, 0))
    )
    assert never == pytest.approx(1 + (2 + 2) * 2.0**-24, rel=1e-9)  # additions, and the division
    assert once == pytest.approx(1 + (2 + 2 + 11) * 2.0**-24, rel=1e-9)


def test_differences_that_are_exact_are_not_rounded() -> None:
    claim = Accuracy(adds=2, rescales=0)
    exact, rounded = (
        enclose(find("softmax"), {"x": np.array([[0, low]], dtype="f4")}, claim, Special())["y"]
        for low in (-60.0, np.nextafter(np.float32(-60.0), np.float32(0)))
    )
    top = enclose(find("softmax"), {"x": np.array([[2.0**-30, -60.0]], dtype="f4")}, claim, Special())["y"]
    relative = [float(y.hi[0, 1] / y.want[0, 1]) for y in (exact, rounded, top)]
    assert relative[0] == pytest.approx(relative[1], rel=1e-9)  # either is one float32 number below 0
    assert relative[2] - relative[0] == pytest.approx(2.0**-30, rel=0.01)  # rounded down to -60, or not at all


@given(st.lists(st.integers(-(2**25), 2**25), min_size=2, max_size=5), st.integers(-149, 90))
def test_every_difference_of_exact_exponents_is_a_float32(terms: list[int], power: int) -> None:
    m = np.array([terms], dtype="f4").astype(np.float64) * 2.0**power
    differences = m[0][:, None] - m[0][None, :]  # of 26 bits, exact in float64
    are_floats = bool((differences.astype("f4") == differences).all())
    assert are_floats or not exponents_are_exact(m, Accuracy(rescales=0))[0]


def test_exponents_are_exact_where_24_bits_hold_every_difference() -> None:
    claim = Accuracy(rescales=0)
    for low, are_exact in ((-1.0, False), (-1.0 + 2.0**-23, True), (-np.inf, True), (2.0**-24, True)):
        assert exponents_are_exact(np.array([[2.0**-24, low]]), claim)[0] == are_exact
    assert not exponents_are_exact(np.zeros((1, 2)), Accuracy())[0]  # what is subtracted may be no term


FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@settings(max_examples=500)
@given(FINITE, FINITE | st.floats(2.0**-30, 4, width=32))
@example(1.0, 2.0**-40)
@example(2.0**-40, -1.0)
@example(3e38, -3e38)
@example(1.0, 2.0**-25)  # a tie
def test_a_difference_is_exact_or_rounded_once(x: float, top: float) -> None:
    exact = Fraction(top) - Fraction(x)
    with np.errstate(over="ignore"):
        nearest = float(np.float64(exact).astype("f4"))
    N = Bands(Accuracy(), {})
    held = N.sub(N.input(np.array(top)), N.input(np.array(x)))
    room = abs(exact) * Fraction(2) ** -52  # where not even float64 holds the difference
    lo, hi = sorted((float(exact), nearest))
    assert float(held.lo) <= lo
    assert hi <= float(held.hi)
    if math.isfinite(nearest):
        assert Fraction(float(held.lo)) >= min(exact, Fraction(nearest)) - 2 * room
        assert Fraction(float(held.hi)) <= max(exact, Fraction(nearest)) + 2 * room


def test_states_are_relative_to_a_maximum() -> None:
    with pytest.raises(oracle.OracleError, match="shift='zero'"):
        enclose(find("max_sum"), {"x": family_rows(5, 1)}, UNSHIFTED, Special())


@pytest.mark.parametrize(
    "wider",
    [
        replace(Accuracy(), shift_slack=2.0),
        replace(Accuracy(), ftz=True),
        replace(Accuracy(), exp=FAST_EXPF),
        replace(Accuracy(), divide="fast"),
    ],
)
def test_a_looser_claim_gives_a_wider_enclosure(wider: Accuracy) -> None:
    x = {"x": family_rows(100, 3)[:4]}
    base = enclose(find("softmax"), x, Accuracy(), Special())["y"]
    loose = enclose(find("softmax"), x, wider, Special())["y"]
    assert ((loose.hi >= base.hi) & (loose.lo <= base.lo)).all()
    assert (loose.hi > base.hi).any()


@pytest.mark.parametrize("accumulate", ["f32", "f64", "compensated"])
@pytest.mark.parametrize("divide", ["ieee", "reciprocal", "fast", "fast reciprocal"])
def test_bounds_are_ordered_around_the_answer(accumulate: str, divide: Divide) -> None:
    claim = Accuracy(accumulate=accumulate, divide=divide)
    y = enclose(find("softmax"), {"x": family_rows(65, 4)}, claim, Special())["y"]
    assert ((y.lo <= y.want) & (y.want <= y.hi)).all()


def test_a_shift_may_rise_from_below_a_term_to_above_the_maximum_by_its_slack() -> None:
    """Then the exponents of a term add up to three times the slack, each rounded for itself."""
    rng = np.random.default_rng(1)
    x = (rng.uniform(-8, 8, (6000, 1)) + rng.uniform(0, 1e-2, (6000, 4))).astype("f4")
    top, N, g = x.max(axis=1, keepdims=True), Float32(), np.float32(33)
    low, high = top - g, top + g
    s = N.mul(total(N, N.exp(N.sub(x, low)), TREE), N.exp(N.sub(low, high))[:, 0])
    y = N.div(N.exp(N.sub(x, high)), s[:, None])
    claim = Accuracy(adds=2, rescales=1, divide="ieee", exp=ExpModel(1, 0), shift_slack=33.01)
    assert judge("softmax", {"x": x}, {"y": y}, claim).status == "kept"
    assert judge("softmax", {"x": x}, {"y": y}, replace(claim, shift_slack=1)).status == "broken"


def test_a_fast_reciprocal_errs_once_more_than_a_fast_division() -> None:
    x = np.array([[0, np.log(3)]], "f4")  # the sum is 4 / 3: 1 / s is no power of two
    limit = {
        divide: enclose(find("softmax"), {"x": x}, Accuracy(adds=1, rescales=0, divide=divide), Special())["y"].hi[0, 1]
        for divide in ("fast", "fast reciprocal")
    }
    product = 1 + 2.0**-24  # e * (1 / s) is rounded, however 1 / s came about
    assert limit["fast reciprocal"] / limit["fast"] >= product * (1 - 1e-12)


@pytest.mark.parametrize("adds", [10**9, 10**10, 10**12, 10**20, 10**300])
@pytest.mark.parametrize("accumulate", ["f32", "f64", "compensated"])
def test_a_claim_that_allows_anything_accuses_no_number(adds: int, accumulate: str) -> None:
    x = np.array([[0.5, -1.25, 3, 0], [1, 2, -2, 0]], dtype="f4")
    claim = Accuracy(adds=adds, rescales=adds, accumulate=accumulate)
    y = (np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)).astype("f4")
    answers = {"softmax": ({"x": x}, y), "row_sum": ({"x": x}, x.sum(axis=1)), "sgemm": ({"a": x, "b": x.T}, x @ x.T)}
    for op, (inputs, answer) in answers.items():
        (output,) = find(op).outputs
        assert oracle.judge(op, inputs, {output: answer}, claim).status != "broken", op
    # The denominator may then come to nothing, and 0 / 0 be right: even NaN is not judged, but never kept.
    assert oracle.judge("softmax", {"x": x}, {"y": np.full_like(y, np.nan)}, claim).status == "not judged"


@pytest.mark.slow
def test_bounds_that_are_wrong_on_purpose_are_violated() -> None:
    for tally in wrong_bounds():
        assert tally.violations > 0, tally.name


def test_an_answer_at_the_bound_is_decided_by_balls_and_never_accused_in_doubt() -> None:
    x = {"x": family_rows(50, 5)[:1]}
    enclosure = enclose(find("softmax"), x, Accuracy(adds=5, rescales=0), Special())["y"]
    on_it = compare(enclosure.hi, enclosure)
    assert not on_it.broken.any()
    beyond = float(enclosure.hi[0, 3] * (1 + 2.0**-40))
    within = float(enclosure.hi[0, 3] * (1 - 2.0**-40))
    assert is_outside(beyond, (0, 3), enclosure)
    assert not is_outside(within, (0, 3), enclosure)


ONE = np.ones(1, dtype="f4")


@pytest.mark.parametrize(("op", "x", "more", "accuracy", "right", "wrong"), [
    ("log_softmax", -3.4e38, {}, Accuracy(adds=0, shift="running max"), 0.0, 1.0),
    ("layer_norm", 2.5e19, {"w": ONE, "b": ONE}, Accuracy(form="two pass"), 1.0, -1.0),
    ("row_sum", 1.0, {}, Accuracy(accumulate="f64"), 1.0, 1 + 2.0**-23),
])  # fmt: skip
def test_float64_knows_a_row_of_one_element_exactly(
    op: str, x: float, more: dict[str, np.ndarray], accuracy: Accuracy, right: float, wrong: float
) -> None:
    inputs = {"x": np.full((1, 1), x, dtype="f4"), **more}
    enclosure = enclose(find(op), inputs, accuracy, Special())["y"]
    np.testing.assert_array_equal((enclosure.lo.item(), enclosure.hi.item()), (right, right))
    for answer, status in ((right, "kept"), (wrong, "broken")):
        y = np.full(enclosure.lo.shape, answer, dtype="f4")
        assert judge(op, inputs, {"y": y}, accuracy).status == status


def test_what_underflow_takes_is_not_rounded_inward() -> None:
    rng = np.random.default_rng(6)
    lost, ends = 2.0**-150 * rng.random(500), 10.0 ** rng.integers(-70, -40, 500) * rng.random(500)
    lo, hi = widen_relative(-ends, ends, 2.0**-49)
    below, above = widen_by_underflow(lo, hi, lost)
    for old, taken, low, high in zip(ends, lost, below, above, strict=True):
        assert -Fraction(low) >= Fraction(old) + Fraction(taken) <= Fraction(high)


def test_an_end_that_is_all_underflow_is_not_rounded_inward() -> None:
    inputs = {
        "x": np.float32([[0, -0.0], [15660.6, 2860.95629883]]),
        "w": np.int8([[127, 127, 127], [-8, 4, -5]]),
        "scale": np.float32([[32, 36.57143021, 41.1428566]]),
    }
    (enclosure,) = enclose(find("weight_only_gemm"), inputs, Accuracy(adds=2), Special(), {"depth": 2}).values()
    for place in np.ndindex(enclosure.want.shape):
        with ctx.workprec(256):
            balls = enclosure.exact(place, 256)
            assert arb(float(enclosure.lo[place])) <= balls.lo <= balls.hi <= arb(float(enclosure.hi[place]))


def test_the_joint_test_in_floats_finds_no_clash_that_balls_do_not() -> None:
    # the answer lies at the end of its bound, 1e-319, and a room of 2^-12 of the least double decides
    inputs = {"y": np.array([[-15000.999992678873, -10000.000003123656]]), "g": np.zeros((1, 2))}
    joint = enclose(find("softmax_backward"), inputs, Accuracy(), Special(), {}, {"dx": F64})["dx"].joint
    got = np.array([[1.4822957506529e-319, -0.0]])
    assert joint is not None
    assert all(clash.is_certain() for clash in joint(got))


def test_balls_are_widened_by_exactly_the_given_amount() -> None:
    g = 2.0**-53 * (1 + 2.0**-52)
    with ctx.workprec(128):
        for sign in (1, -1):
            lo, hi = widen_relative(np.array([arb(sign)]), np.array([arb(sign)]), g)
            assert (lo[0], hi[0]) == (sign - arb(g), sign + arb(g))


def test_a_long_double_below_the_least_double_is_the_same_number_as_a_ball() -> None:
    small = np.longdouble(3) / 7 * np.longdouble(2) ** -1070
    with ctx.workprec(128):
        assert (
            BallEnds().convert(np.array([small]))[0] * arb(2) ** 1070
            == BallEnds().convert(np.array([np.longdouble(3) / 7]))[0]
        )


def test_balls_know_that_the_power_of_a_huge_number_is_huge() -> None:
    with ctx.workprec(128):
        huge = np.array([arb(10) ** 114])
        lo, hi = BallEnds().function("exp", huge, huge)
        assert lo[0] > arb(10) ** 400
        assert hi[0] >= lo[0]
        infinite = np.array([arb("inf")])
        assert BallEnds().function("exp", infinite, infinite)[0][0] == arb("inf")


def test_balls_round_to_the_nearest_float64() -> None:
    with ctx.workprec(128):
        ends = np.array([arb(1) + arb(2) ** -54, arb(1) - arb(2) ** -54, arb(1) + 3 * arb(2) ** -54])
        lo, hi = BallEnds().hull(ends, ends, F64)
        assert lo.tolist() == [1, ends[1], ends[2]]
        assert hi.tolist() == [ends[0], 1, 1 + arb(2) ** -52]


def test_what_no_precision_decides_is_not_accused() -> None:
    wide, zero = Bounds(arb(0, 1), arb(0), arb(1, 1)), np.zeros(1)
    enclosure = Enclosure(zero, zero, zero, zero == 0, zero, zero, exact=lambda index, bits: wide)
    assert not is_outside(1.5, (0,), enclosure)
    assert is_outside(2.5, (0,), enclosure)


def test_balls_alone_say_that_two_elements_have_no_common_sum() -> None:
    x = family_rows(33, 6)[:1]
    exact = np.exp(x.astype("f8") - x.max()) / np.exp(x.astype("f8") - x.max()).sum()
    y = exact.astype("f4")
    test = enclose(find("softmax"), {"x": x}, Accuracy(rescales=0, divide="ieee"), Special())["y"].joint
    assert test is not None
    assert list(test(y.astype("f8"))) == []
    assert list(test((exact * (1 + 2.0**-20)).astype("f4").astype("f8"))) == []  # another sum, the same for all
    y[0, 1] *= np.float32(1 + 2.0**-18)
    (clash,) = test(y.astype("f8"))
    assert clash.is_certain()
    assert {clash.index[0], clash.wrong.size} == {0, 33}


def test_small_negative_numbers_that_are_stored_as_zeros_have_a_common_sum() -> None:
    """-3.6e-43 is -0 in bfloat16, and -0 is not below 0: that says nothing of the sign of what was stored."""
    y, g = np.array([[0.0, 1.8367e-40, -9.1835e-41]]), np.array([[-2.0, -0.001953125, 0.125]])
    given = {"y": store(y, BF16), "g": store(g, BF16)}
    answer = store(y * (g - (y * g).sum()), BF16)
    verdict = judge("softmax_backward", given, {"dx": answer}, Accuracy(form="y (g - s)"))
    assert verdict.status == "kept", verdict


def test_a_flushed_part_of_a_product_in_another_order_has_a_common_mean() -> None:
    """(x - mean) (r w): r w is 5e-40 and flushed, so that all of y is 0, and no mean is that near to all x."""
    given = {"x": np.float32([[1e18, -3e18, 2e18, 5e17]]), "w": np.float32([1e-21] * 4), "b": np.zeros(4, np.float32)}
    answer = {"y": np.zeros((1, 4), np.float32)}
    for form in ("two pass", "welford"):
        assert judge("layer_norm", given, answer, Accuracy(form=form, ftz=True)).status == "kept"
        assert judge("layer_norm", given, answer, Accuracy(form=form)).status == "broken"


def test_elements_of_a_group_of_channels_that_have_no_common_root_are_accused() -> None:
    x = np.random.default_rng(0).standard_normal((2, 1, 2, 512))
    y = (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)
    y[1, ..., ::2] *= 1 + 1e-4
    given = {"x": np.float32(x), "w": np.ones((1, 2), np.float32), "b": np.zeros((1, 2), np.float32)}
    verdict = judge("group_norm", given, {"y": np.float32(y)}, Accuracy(form="welford"))
    assert verdict.is_joint
    assert verdict.worst is not None
    assert verdict.worst.index[0] == 1


def test_float64_answers_that_have_no_common_root_are_accused() -> None:
    x = np.random.default_rng(1).standard_normal((1, 64))
    y = x / np.sqrt((x * x).mean() + 1e-6)
    inputs, claim = {"x": x, "w": np.ones(64)}, Accuracy(form="(x r) w")
    assert judge("rms_norm", inputs, {"y": y}, claim).status == "kept"
    y[0, 5] *= 1 + 2.0**-49  # within its own bound
    verdict = judge("rms_norm", inputs, {"y": y}, claim)
    assert verdict.is_joint
    assert verdict.status == "broken"


def test_claims_of_the_self_check_name_every_algorithm_once() -> None:
    names = [variant.name for variant in VARIANTS if not variant.name.startswith(" ")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", [np.float64, np.longdouble])
def test_ends_of_either_type_are_pushed_outward(kind: type[np.floating[Any]]) -> None:
    E = FloatEnds(kind)
    for x in (np.array([0.7, 3.0], kind), np.array([-0.7, 3.0], kind)):
        for lo, hi in (E.push_outward(x, x), widen_relative(x, x, 2.0**-53 + 8 * E.eps)):
            assert (lo < x).all()
            assert (hi > x).all()
        lo, hi = widen_relative(x, x, 2.0**-53 + 8 * E.eps)
        assert (hi - x >= np.abs(x) * kind(2.0**-53)).all()
        assert (x - lo >= np.abs(x) * kind(2.0**-53)).all()
    for name in ("exp", "tanh", "log1p"):
        lo, hi = E.function(name, np.array([0.3], kind), np.array([0.3], kind))
        assert (lo < hi).all()


@pytest.mark.soak
def test_a_long_row_is_certified_by_long_doubles() -> None:
    """A row of 4,194,304 took more than 6 GB as balls."""
    x = np.random.default_rng(3).integers(-4, 5, (1, MOST_IN_BALLS + 8)).astype(np.float32)
    op, claim = find("rms_norm"), Accuracy(adds=64)
    right = op.compute({"x": x, "w": np.ones(x.shape[1])}, {})["y"].astype(np.float32)
    wrong = right.copy()
    wrong[0, 7] *= np.float32(1.01)
    arrays = {"x": x, "w": np.ones(x.shape[1], np.float32)}
    assert judge("rms_norm", arrays, {"y": right}, claim).status == "kept"
    assert judge("rms_norm", arrays, {"y": wrong}, claim).status == "broken"
    question = Question(op, arrays, claim, Special(), {}, {})
    with ctx.workprec(128):
        found = question.exact("y", (0, 7), 128)
    assert found.lo <= float(right[0, 7]) <= found.hi
    assert float(found.hi - found.lo) < 1e-4 * abs(float(right[0, 7]))
