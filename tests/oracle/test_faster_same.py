"""Fast paths that do not choose element by element give bit for bit the same result as choosing."""

import numpy as np
import pytest

from kfuzz.oracle import Accuracy
from kfuzz.oracle.accuracy.rounding import ExpModel
from kfuzz.oracle.numbers.enclosure import Bounds, Doubles, Enclosure, Index, _ratio, compare
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.exp_sum import exponents_are_exact
from kfuzz.oracle.systems.intervals import widen_by_underflow
from kfuzz.oracle.systems.rules.exponential import _exp
from kfuzz.oracle.systems.rules.total import grow_terms

RNG = np.random.default_rng(5)
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-149, -(2.0**-150), 3e38, -3e38, np.inf, -np.inf, np.nan]
)
ENDS = np.concatenate([np.repeat(SPECIAL, len(SPECIAL)), RNG.standard_normal(400) * 10.0 ** RNG.integers(-50, 30, 400)])
OTHERS = np.concatenate([np.tile(SPECIAL, len(SPECIAL)), RNG.standard_normal(400) * 10.0 ** RNG.integers(-50, 30, 400)])
LO, HI = np.fmin(ENDS, OTHERS), np.fmax(ENDS, OTHERS)
LOST = (2.0**-150, 2.0**-126, 1.0, np.where(np.arange(len(LO)) % 2 == 0, 2.0**-149, 3.0))


def same(one: Doubles, other: Doubles) -> None:
    np.testing.assert_array_equal(np.asarray(one).view(np.uint64), np.asarray(other).view(np.uint64))


@pytest.mark.parametrize("lost", LOST)
def test_what_underflow_takes_crosses_no_zero(lost: float | Doubles) -> None:
    with np.errstate(all="ignore"):
        for some in (np.ones_like(LO, dtype=np.bool_), np.abs(LO) > 1e-20):
            lo, hi, taken = LO[some], HI[some], lost[some] if isinstance(lost, np.ndarray) else lost
            below, above = (end + way * taken * (1 + 2.0**-51) for end, way in ((lo, -1), (hi, 1)))
            got = widen_by_underflow(lo, hi, taken)
            same(got[0], np.where(lo >= 0, np.maximum(below, 0.0), below))
            same(got[1], np.where(hi <= 0, np.minimum(above, 0.0), above))


@pytest.mark.parametrize("g", [1e-7, 0.5, 800.0])
def test_a_term_grows_by_the_factor_that_takes_it_further_out(g: float) -> None:
    N = Bands(Accuracy(), {})
    with np.errstate(all="ignore"):
        up = N.E.exp_above(g)
        lo, hi = grow_terms(N, N.value(LO, HI), up, 1 / up)
        same(lo, np.where(LO >= 0, LO * (1 / up), LO * up))
        same(hi, np.where(HI >= 0, HI * up, HI * (1 / up)))


def test_an_error_is_compared_with_the_bound_on_its_side() -> None:
    lo, want, hi = np.sort(RNG.standard_normal((3, 4000)), axis=0)
    lo[::7], hi[1::7], want[2::7], want[3::7], hi[4::7] = -np.inf, np.inf, lo[2::7], hi[3::7], lo[4::7]
    got = want + RNG.choice([-1.0, 0.0, 1e-9, 1.0], 4000)
    with np.errstate(all="ignore"):
        for least in (lo, np.where(lo < 0, 0.0, lo)):
            bound = np.where((got >= want) | (least == 0), hi - want, want - least)
            same(_ratio(got, want, least, hi), np.where(got == want, 0.0, np.abs(got - want) / bound))


@pytest.mark.parametrize("kappa", [0.0, 2.0])
def test_known_numbers_have_the_exponentials_and_terms_of_equal_ends(kappa: float) -> None:
    N = Bands(Accuracy(exp=ExpModel(1.0, kappa)), {})
    x = np.where(np.isnan(ENDS), -200.0, ENDS)
    with np.errstate(all="ignore"):
        for known in (x, x[np.abs(x) < 50]):
            other, up = known.copy(), N.E.exp_above(1e-6)
            for one, two in (
                (_exp(N, known, known, known, known, 0.0, 1.0), _exp(N, known, other, known.copy(), other, 0.0, 1.0)),
                (grow_terms(N, N.value(known, known), up, 1 / up), grow_terms(N, N.value(known, other), up, 1 / up)),
                (N.E.round_ends(known, known, N.f), N.E.round_ends(known, other, N.f)),
            ):
                same(one[0], two[0])
                same(one[1], two[1])


def test_exponents_are_exact_where_all_terms_are_near_multiples_of_one_number() -> None:
    m = np.array([[0.0, 1.0, 0.5], [0.0, 2.0**-30, 1.0], [-np.inf, 3.0, 1.0], [-np.inf, 2.0**-30, 1.0]])
    claim = Accuracy(shift="running max")
    assert exponents_are_exact(m, claim).tolist() == [True, False, True, False]
    assert exponents_are_exact(m[:2], claim).tolist() == [True, False]


def test_an_element_that_may_be_nan_is_inside_only_if_it_is() -> None:
    want, none, sure = np.ones(3), np.broadcast_to(0.0, 3), np.ones(3, dtype=np.bool_)
    got = np.array([np.nan, 1.0, np.nan])
    for may_be in (np.array([True, False, False]), np.zeros(3, dtype=np.bool_)):
        made = compare(got, Enclosure(want, want, want, sure, none, none, _never, may_be_nan=may_be))
        assert made.broken.tolist() == [not may_be[0], False, True]
        assert made.ratio.tolist() == [0.0 if may_be[0] else np.inf, 0.0, np.inf]


def test_a_slack_of_one_number_in_memory_still_makes_an_element_doubtful() -> None:
    want, sure = np.ones(3), np.ones(3, dtype=np.bool_)
    for slack, is_doubtful in ((0.5, True), (0.0, False)):
        wide = np.broadcast_to(slack, 3)
        made = compare(np.full(3, 1.25), Enclosure(want, want, want, sure, wide, wide, _never))
        assert made.doubtful.tolist() == [is_doubtful] * 3


def _never(_: Index, __: int) -> Bounds:
    raise AssertionError("no ball is asked for")
