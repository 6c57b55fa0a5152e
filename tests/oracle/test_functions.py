"""Functions of one and two numbers: their rows agree, and every right answer of a set of arguments is inside."""

import math
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from kfuzz.claims.language.rounding_values import MODELS
from kfuzz.oracle.accuracy.functions import FUNCTIONS, OF_TWO, ROWS, FunctionOfOne
from kfuzz.oracle.accuracy.rounding import Accuracy, FunctionModel
from kfuzz.oracle.numbers.elements import F32, F64
from kfuzz.oracle.numbers.verdict import Why
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import BallEnds, FloatEnds
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.simulated import KernelManner, Simulated
from kfuzz.oracle.systems.value import Operand, Quantity

IEEE = Accuracy(divide="ieee", rescales=0)
RNG = np.random.default_rng(3)
SPECIAL = [
    0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    100.25,
    -100.25,
    1e-30,
    -1e-30,
    math.inf,
    -math.inf,
    math.nan,
]
NAMES = [row.name for row in ROWS]
CONTEXT = mpmath.MPContext()
CONTEXT.prec = 120

Any_ = Any


def floats(x: Any_) -> Any_:
    return F32.round(np.asarray(x, dtype=np.float64))


def agree(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 2.0**-49 * max(abs(a), abs(b))


def outside(made: Quantity, got: Any_) -> int:
    lo, hi, nan = (np.broadcast_to(np.asarray(part), got.shape) for part in made.parts)
    return int((~np.where(np.isnan(got), nan, (got >= lo) & (got <= hi))).sum())


def arguments(row: FunctionOfOne, count: int) -> Any_:
    """Numbers of all sizes and near the function's own places."""
    wide = RNG.standard_normal(count) * 2.0 ** RNG.integers(-30, 7, count)
    near = (
        RNG.integers(-6, 7, count) * (math.pi / 2 if row.course == "wave" else 0.5) + RNG.standard_normal(count) * 1e-3
    )
    return floats(np.concatenate([wide, near, SPECIAL]))


@pytest.mark.parametrize("name", NAMES)
def test_doubles_balls_and_mpmath_agree(name: str) -> None:
    row = FUNCTIONS[name]
    with ctx.workprec(120), np.errstate(all="ignore"):
        for x in arguments(row, 40):
            of_double = float(row.doubles(np.array([x]))[0])
            assert agree(of_double, float(row.of_ball(arb(float(x))))), (name, x)
            assert agree(of_double, float(row.of_mpf(CONTEXT, CONTEXT.mpf(float(x))))), (name, x)


@pytest.mark.parametrize("name", list(OF_TWO))
def test_functions_of_two_agree_in_doubles_balls_and_mpmath(name: str) -> None:
    row = OF_TWO[name]
    with ctx.workprec(120), np.errstate(all="ignore"):
        for a in [*SPECIAL, 2.25, -3.0]:
            for b in [*SPECIAL, 3.0, -2.0, 7.5]:
                of_double = float(row.doubles(np.array(a), np.array(b)))
                assert agree(of_double, float(row.of_balls(arb(a), arb(b)))), (name, a, b)
                assert agree(of_double, float(row.of_mpf(CONTEXT, CONTEXT.mpf(a), CONTEXT.mpf(b)))), (name, a, b)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ends", ["doubles", "long doubles", "balls"])
def test_the_set_of_a_set_contains_the_answer_of_each_of_its_numbers(name: str, ends: str) -> None:
    row = FUNCTIONS[name]
    count = 12 if ends == "balls" else 200
    first = np.concatenate([arguments(row, count), [-math.inf, 0.0]])
    with np.errstate(all="ignore"):
        last = np.maximum(
            first, first + np.abs(RNG.standard_normal(first.size)) * 2.0 ** RNG.integers(-12, 5, first.size)
        )
    first, last = floats(np.where(np.isnan(first), 0.0, first)), floats(np.where(np.isnan(last), 1.0, last))
    kinds = {"doubles": FloatEnds(), "long doubles": FloatEnds(np.longdouble), "balls": BallEnds()}
    N = Bands(IEEE, {}, F64 if ends == "long doubles" else F32, ends=kinds[ends])
    with ctx.workprec(120), np.errstate(all="ignore"):
        a = N.value(N.E.convert(first), N.E.convert(last))
        made = getattr(N, name)(a)
        for share in (0.0, 1e-3, 0.25, 0.5, 0.9, 1.0):
            inner = np.where(
                np.isfinite(first) & np.isfinite(last), first + (last - first) * share, last if share else first
            )
            got = row.doubles(np.clip(inner, first, last))
            assert outside(made, got) == 0, (name, share)


def test_an_answer_below_all_long_doubles_lies_between_0_and_the_least() -> None:
    """erfc(120) is 1e-6256; numpy warns of an overflow there."""
    N = Bands(IEEE, {}, F64, ends=FloatEnds(np.longdouble))
    made = N.erfc(N.value(*(N.E.convert(np.array([120.0])) for _ in range(2))))
    assert made.lo[0] <= 0 < made.hi[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_that_errs_as_documented_is_inside_and_one_that_errs_more_is_not(name: str) -> None:
    row = FUNCTIONS[name]
    x = arguments(row, 200)
    if name == "exp":
        return  # has a model of its own: test_formula_rules
    for noise in ("ends", "high", "low", "any"):
        S = Simulated(IEEE, KernelManner(noise=noise), {})
        N = Bands(IEEE, {})
        with np.errstate(all="ignore"):
            assert outside(N.store(getattr(N, name)(N.input(x)), F32), getattr(S, name)(S.input(x)).x) == 0
    if row.course == "step":
        return
    loose = replace(IEEE, functions={name: FunctionModel(2 * row.units + 3)})
    S, N = Simulated(loose, KernelManner(noise="high"), {}), Bands(IEEE, {})
    with np.errstate(all="ignore"):
        assert outside(N.store(getattr(N, name)(N.input(x)), F32), getattr(S, name)(S.input(x)).x) > 0


def test_a_step_is_exact_and_a_set_that_holds_one_has_both_sides() -> None:
    N = Bands(IEEE, {})
    x = np.array([2.5, -2.5, 3.5, 0.49999997, -0.0])
    made = N.rint(N.input(x))
    assert np.array_equal(made.lo, [2, -2, 4, 0, 0])
    assert np.array_equal(made.hi, made.lo)
    assert outside(made, np.floor(x + 0.5)) > 0  # ties away from zero
    over = N.floor(N.input(np.array([3.0])) + 1e-9)
    assert (over.lo, over.hi) == ([3], [3])
    across = N.floor(N.value(np.array([2.999999]), np.array([3.0])))
    assert (across.lo, across.hi) == ([2], [3])


def test_a_sine_passes_its_crests_and_no_others() -> None:
    N = Bands(IEEE, {})
    lo, hi = np.array([1.5, 1.6, 4.7, -1.6, 0.1]), np.array([1.6, 1.7, 4.8, -1.5, 7.0])
    sin, cos = N.sin(N.value(lo, hi)), N.cos(N.value(lo - math.pi / 2, hi - math.pi / 2))
    for made in (sin, cos):
        assert (made.hi >= 1).tolist() == [True, False, False, False, True]
        assert (made.lo <= -1).tolist() == [False, False, True, True, True]
    nothing = N.sin(N.input(np.array([math.inf, -math.inf, math.nan])))
    assert nothing.nan.all()
    assert (nothing.lo > nothing.hi).all()
    assert N.sin(N.value(np.array([0.0]), np.array([math.inf]))).nan.all()


def test_a_fast_sine_is_judged_where_its_error_is_documented_and_not_beyond() -> None:
    model = MODELS["sin"]["__sinf"]
    N = Bands(replace(IEEE, functions={"sin": model}), {})
    x = floats([3.0, 3.1, 4.0, 1e6])
    made = N.sin(N.input(x))
    off = np.sin(x) + 2.0**-21.5
    assert outside(made, off) == 0
    assert outside(Bands(IEEE, {}).sin(N.input(x)), off) > 0
    assert np.isinf(made.hi).tolist() == [False, False, True, True]
    assert {reason.why: count for reason, count in N.notes.items()} == {Why.BEYOND_MODEL: 2}


class NoChains(Bands):
    """Rule off: only powf's own error, never that of products."""

    def pow(self, a: Operand, b: Operand) -> Quantity:
        made = super().pow(a, b)
        want = np.power(self.number(a).lo, self.number(b).lo)
        g = self.claim.function("pow").a0 * self.u
        return self.value(want - np.abs(want) * g, want + np.abs(want) * g, made.nan)


def test_a_power_may_be_a_chain_of_products() -> None:
    x = floats(RNG.uniform(1.001, 1.05, 3000) * RNG.choice([-1, 1], 3000))
    got = x
    for _ in range(39):
        got = floats(got * x)
    for system, is_sound in ((Bands, True), (NoChains, False)):
        N = system(replace(IEEE, functions={"pow": FunctionModel(1.0)}), {})
        assert (outside(N.pow(N.input(x), 40.0), got) == 0) == is_sound


def test_the_inverse_of_a_denormal_power_may_be_far_off_or_infinite() -> None:
    x = floats(RNG.uniform(0.6, 3.0, 2000) * 2.0**-64)
    got = floats(1 / np.where(floats(x * x) == 0, 0.0, floats(x * x)))
    N = Bands(IEEE, {})
    assert outside(N.store(N.pow(N.input(x), -2.0), F32), got) == 0
    flushed = floats(x * x)
    flushed = np.where(flushed < F32.min_normal, 0.0, flushed)
    N = Bands(replace(IEEE, ftz=True), {})
    with np.errstate(all="ignore"):
        assert outside(N.store(N.pow(N.input(x), -2.0), F32), floats(1 / flushed)) == 0


def test_powers_of_negative_numbers_zeros_and_nan() -> None:
    N = Bands(IEEE, {})
    a = np.array([-2.0, -2.0, -2.0, 0.0, 0.0, 0.0, math.nan, math.nan, 1.0, -math.inf, 2.0, -1.0])
    b = np.array([3.0, 2.0, 0.5, 0.0, -1.0, 2.0, 0.0, 1.0, math.nan, 3.0, -math.inf, 1e9])
    made = N.pow(N.input(a), N.input(b))
    with np.errstate(all="ignore"):
        want = np.power(a, b)
    assert outside(N.store(made, F32), want) == 0
    assert made.nan.tolist() == [False, False, True, False, False, False, False, True, True, False, False, False]
    open_ = N.pow(N.value(np.array([-2.0]), np.array([-1.0])), N.value(np.array([1.0]), np.array([2.0])))
    assert (open_.lo, open_.hi, open_.nan) == ([-math.inf], [math.inf], [True])


def test_a_power_of_sets_has_its_extremes_at_corners() -> None:
    N = Bands(IEEE, {})
    lo, hi = RNG.uniform(0, 2, 300), RNG.uniform(0, 2, 300)
    first, last = np.minimum(lo, hi), np.maximum(lo, hi)
    low, high = np.sort(RNG.uniform(-3, 3, (2, 300)), axis=0)
    made = N.pow(N.value(first, last), N.value(low, high))
    for s in (0, 0.3, 1):
        for t in (0, 0.5, 1):
            assert outside(made, np.power(first + s * (last - first), low + t * (high - low))) == 0


def test_an_angle_turns_at_the_negative_axis() -> None:
    N = Bands(IEEE, {})
    y, x = np.array([0.0, 1.0, -1.0, 0.0, 3.0]), np.array([-1.0, -1.0, -1.0, 1.0, -math.inf])
    made = N.atan2(N.input(y), N.input(x))
    assert outside(made, np.arctan2(y, x)) == 0
    assert outside(made, np.arctan2(-0.0 * np.ones(5), x))  # of -0, not of these numbers
    assert (made.lo[0], made.hi[0]) == (-math.pi, math.pi) or (made.lo[0] < -math.pi and made.hi[0] > math.pi)
    boxes = N.atan2(
        N.value(np.array([0.5, -1.0]), np.array([2.0, 1.0])), N.value(np.array([-3.0, 0.5]), np.array([4.0, 2.0]))
    )
    for s in np.linspace(0, 1, 7):
        for t in np.linspace(0, 1, 7):
            got = np.arctan2([0.5 + 1.5 * s, -1 + 2 * s], [-3 + 7 * t, 0.5 + 1.5 * t])
            assert outside(boxes, got) == 0


def test_the_exact_answer_has_the_words_too() -> None:
    for bits in (0, 100):
        N = Exact({}, bits=bits)
        x = N.input(np.array([0.25, 2.0]))
        assert np.allclose(np.asarray(N.pow(x, -0.5).x, dtype=np.float64), [2, 2**-0.5])
        assert np.allclose(np.asarray(N.atan2(x, 1.0).x, dtype=np.float64), np.arctan([0.25, 2]))
        assert np.allclose(np.asarray(N.log2(x).x, dtype=np.float64), [-2, 1])
