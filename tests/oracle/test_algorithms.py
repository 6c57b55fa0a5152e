"""Each algorithm once, over any number system: in exact arithmetic they all say the same."""

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuzz.oracle.accuracy.counts import adds_in_order, rescales_in_order
from kfuzz.oracle.accuracy.rounding import Order
from tests.oracle.selfcheck import algorithms
from tests.oracle.selfcheck.algorithms import SEQUENTIAL, TREE, Parts, fold
from tests.oracle.selfcheck.number import Balls, Float32, Float64, Mpmath, Number, Vector

M = Mpmath(200)
ORDERS = (SEQUENTIAL, TREE, Order("strided", 4), Order("strided", 7), Order("random", seed=3))

floats = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-1e4, max_value=1e4)
maxima = floats | st.just(float("-inf"))
states = st.tuples(maxima, st.floats(width=32, min_value=1, max_value=1e6))
masked_rows = st.lists(maxima, min_size=1, max_size=30).filter(lambda row: max(row) > float("-inf"))


def close(a: Vector, b: Vector) -> bool:
    """Equal to 180 of 200 bits."""
    return all(abs(x - y) <= abs(y) * M.context.mpf(2) ** -180 for x, y in zip(np.ravel(a), np.ravel(b), strict=True))


@settings(max_examples=60)
@given(masked_rows)
@pytest.mark.slow
def test_three_pass_online_and_every_merge_tree_agree_in_exact_arithmetic(row: list[float]) -> None:
    x = M.embed(np.array([row], dtype=np.float32))
    want = algorithms.three_pass(M, x)
    for order in ORDERS:
        assert close(algorithms.three_pass(M, x, order), want)
        assert close(algorithms.online(M, x, order), want)


def test_that_agreement_can_fail() -> None:
    x = M.embed(np.array([[1, 2, 3]], dtype=np.float32))
    nearly = x + M.context.mpf(2) ** -150 * np.array([[0, 0, 1]])
    assert not close(algorithms.three_pass(M, x), algorithms.three_pass(M, nearly))


def merged(a: tuple[float, float], b: tuple[float, float]) -> Parts:
    def of(value: float) -> Vector:
        return M.embed(np.array([value]))

    return algorithms.safe_merge(M, (of(a[0]), of(a[1])), (of(b[0]), of(b[1])))


@given(states, st.floats(width=32, allow_nan=True, allow_infinity=True))
def test_an_empty_state_with_any_sum_is_the_identity_on_both_sides(state: tuple[float, float], junk: float) -> None:
    for m, s in (merged(state, (float("-inf"), junk)), merged((float("-inf"), junk), state)):
        assert float(m[0]) == state[0]
        assert state[0] == float("-inf") or float(s[0]) == state[1]


@given(states, states)
def test_safe_merge_commutes(a: tuple[float, float], b: tuple[float, float]) -> None:
    if max(a[0], b[0]) > float("-inf"):
        assert all(close(x, y) for x, y in zip(merged(a, b), merged(b, a), strict=True))


@given(states, states, states)
def test_safe_merge_associates(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> None:
    def of(state: tuple[float, float]) -> Parts:
        return M.embed(np.array([state[0]])), M.embed(np.array([state[1]]))

    left = algorithms.safe_merge(M, algorithms.safe_merge(M, of(a), of(b)), of(c))
    right = algorithms.safe_merge(M, of(a), algorithms.safe_merge(M, of(b), of(c)))
    assert float(left[0][0]) == float(right[0][0])
    if float(left[0][0]) > float("-inf"):
        assert close(left[1], right[1])


@pytest.mark.parametrize("order", ORDERS)
def test_balls_hold_what_mpmath_computes(order: Order) -> None:
    x = np.random.default_rng(5).standard_normal((2, 40)).astype(np.float32) * 20
    balls = algorithms.online(Balls(200), Balls(200).embed(x), order)
    slow = algorithms.online(M, M.embed(x), order)
    with ctx.workprec(300):
        for ball, number in zip(np.ravel(balls), np.ravel(slow), strict=True):
            exact = arb(M.context.nstr(number, 75))
            assert abs(ball - exact) < exact * arb(2) ** -180


def test_float64_agrees_with_both_to_its_own_precision() -> None:
    x = np.random.default_rng(6).standard_normal((3, 50)).astype(np.float32)
    doubles = algorithms.three_pass(Float64(), Float64().embed(x))
    exact = algorithms.three_pass(M, M.embed(x)).astype(np.float64)
    assert (np.abs(doubles - exact) <= 2.0**-47 * exact).all()


def brute_force_adds(order: Order, n: int) -> list[int]:
    """Count the combines on every item's way by carrying sets of items through the fold itself."""
    count = [0] * n

    def combine(a: Parts, b: Parts) -> Parts:
        joined = np.empty(a[0].shape, dtype=object)
        for place in np.ndindex(*a[0].shape):
            joined[place] = a[0][place] | b[0][place]
            for item in joined[place]:
                count[item] += 1
        return (joined,)

    items = np.empty(n, dtype=object)
    items[:] = [frozenset([j]) for j in range(n)]
    assert fold(order, (items,), combine)[0].item() == frozenset(range(n))
    return count


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 31, 33, 64])
@pytest.mark.parametrize("order", ORDERS)
def test_adds_of_a_named_order_are_counted_as_the_fold_makes_them(order: Order, n: int) -> None:
    counted, claimed = brute_force_adds(order, n), adds_in_order(order, n)
    assert (claimed >= counted).all()
    assert order.kind == "random" or claimed.tolist() == counted


def test_rescales_of_a_sequence_are_its_strict_new_maxima() -> None:
    m = np.array([1.0, 1.0, 3.0, 2.0, 4.0])
    assert rescales_in_order(SEQUENTIAL, m).tolist() == [2, 2, 1, 1, 0]
    assert rescales_in_order(SEQUENTIAL, m[::-1]).tolist() == [0] * 5


@pytest.mark.parametrize("N", [Mpmath(), Balls(), Float64()], ids=["mpmath", "balls", "float64"])
@pytest.mark.parametrize("x", [[np.nan, 1.0], [1.0, np.nan], [np.nan, 1.0, 2.0], [1.0, 2.0, np.nan]])
def test_a_nan_is_the_maximum_wherever_it_is(N: Number, x: list[float]) -> None:
    top = algorithms.row_max(N, N.embed(np.array([x])))
    assert str(top[0]) == "nan"


def test_flushed_denormals_are_zero_on_the_way_in_and_out() -> None:
    tiny = np.array([1e-40], dtype=np.float32)
    flushing, keeping = Float32(ftz=True), Float32()
    assert flushing.add(tiny, tiny)[0] == 0
    assert keeping.add(tiny, tiny)[0] > 0
    least = np.array([2.0**-126], dtype=np.float32)
    assert flushing.mul(least, np.array([0.5], dtype=np.float32))[0] == 0


@pytest.mark.parametrize("noise", ["rounded", "ulp2", "high2", "ends2", "ex2", "documented"])
def test_every_exp_error_keeps_exp_of_zero_one(noise: str) -> None:
    N = Float32(noise)  # type: ignore[arg-type]  # a parametrized name
    assert N.exp(np.array([0.0, -np.inf], dtype=np.float32)).tolist() == [1.0, 0.0]
