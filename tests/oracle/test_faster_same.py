"""Fast paths that do not choose element by element give bit for bit the same result as choosing."""

import numpy as np
import pytest

from kfuzz.oracle import Accuracy
from kfuzz.oracle.enclosure import Doubles, _ratio
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.intervals import widen_by_underflow
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
