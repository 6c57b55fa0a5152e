"""Windows, padding, spreading, and rules R18 to R20: with each a right kernel is inside, and without it, it is not."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import ctx

from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import BallEnds
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.rules import running_product as product_rule
from kfuzz.oracle.systems.rules import scatter as scatter_rule
from kfuzz.oracle.systems.simulated import KernelManner, Simulated
from kfuzz.oracle.systems.value import Filler, Quantity

Any_ = Any
CLAIM = Accuracy(divide="ieee")
INF = float("inf")
RNG = np.random.default_rng(1)


def floats(x: Any_) -> Any_:
    return F32.round(np.asarray(x, dtype=np.float64))


def is_inside(made: Quantity, got: Any_) -> Any_:
    lo, hi, nan = (np.broadcast_to(np.asarray(part, dtype=np.float64), np.shape(got)) for part in made.parts)
    return np.where(np.isnan(got), nan > 0, (got >= lo) & (got <= hi))


SIZES = [
    ((3,), (1,), (0,), (1,)), ((2,), (3,), (1,), (1,)), ((3,), (2,), (2,), (2,)), ((9,), (1,), (0,), (1,)),
    ((2, 3), (2, 1), (1, 0), (1, 2)), ((1, 2, 2), (1, 2, 1), (0, 1, 1), (1, 1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("size", "stride", "pad", "dilation"), SIZES)
def test_a_window_holds_what_loops_find(
    size: tuple[int, ...], stride: tuple[int, ...], pad: tuple[int, ...], dilation: tuple[int, ...]
) -> None:
    lengths = (8, 7, 6)[: len(size)]
    x = RNG.standard_normal((2, *lengths))
    made = Exact({}).windows(Exact({}).input(x), size, stride, pad, dilation, -INF).x
    places = [
        range((n + 2 * p - d * (k - 1) - 1) // s + 1)
        for n, k, s, p, d in zip(lengths, size, stride, pad, dilation, strict=True)
    ]
    assert made.shape == (2, *map(len, places), np.prod(size))
    for place in product(*places):
        taps = []
        for tap in product(*map(range, size)):
            at = tuple(i * s - p + t * d for i, s, p, t, d in zip(place, stride, pad, tap, dilation, strict=True))
            is_there = all(0 <= one < n for one, n in zip(at, lengths, strict=True))
            taps.append(x[(slice(None), *at)] if is_there else np.full(2, -INF))
        assert np.array_equal(made[(slice(None), *place)], np.stack(taps, axis=-1))


def test_every_system_moves_elements_to_the_same_places() -> None:
    x = floats(RNG.standard_normal((2, 5, 6)))

    def move(N: Any_) -> Quantity:
        a = N.padded(N.input(x), (1, (2, -1)), -INF)
        moved: Quantity = N.windows(N.spread(a, (2, 1)), (2, 3), (1, 2), (0, 1), 1, 7.0)
        return moved

    want = move(Exact({})).x
    with ctx.workprec(128):
        for N in (
            Exact({}, bits=100),
            Bands(CLAIM, {}),
            Bands(CLAIM, {}, ends=BallEnds()),
            Simulated(CLAIM, KernelManner(), {}),
        ):
            made = move(N)
            assert np.array_equal(np.asarray(made.x, dtype=np.float64), want)
            assert len(made.parts) == 1 or (made.lo is made.hi and made.is_point)


def test_a_window_that_does_not_fit_has_no_place() -> None:
    N = Exact({})
    assert N.windows(N.input(np.zeros((2, 3))), 4).shape == (2, 0, 4)


def convolved(N: Any_, x: Any_, w: Any_, fill: Filler) -> Quantity:
    seen = N.windows(N.input(x), len(w), 1, 1, 1, fill)
    made: Quantity = N.matmul(seen, N.input(w)[:, None], "conv")
    return made


def test_a_kernel_may_multiply_the_padding_or_leave_it_out() -> None:
    x, w = np.array([[1.0, 2.0, 3.0]]), np.array([INF, 1.0, 1.0])
    multiplies, skips = np.array([[np.nan, INF, INF]]), np.array([[3.0, INF, INF]])
    made = convolved(Bands(CLAIM, {}), x, w, "absent")
    assert is_inside(made, multiplies[..., None]).all()
    assert is_inside(made, skips[..., None]).all()
    assert not is_inside(made, np.array([[INF, INF, INF]])[..., None]).all()
    assert not is_inside(convolved(Bands(CLAIM, {}), x, w, 0.0), skips[..., None]).all()  # without the rule


def test_sums_of_products_term_by_term_leave_the_padding_out_too() -> None:
    N = Bands(CLAIM, {})
    seen = N.windows(N.input([[1.0, 2.0]]), 3, 1, 1, 1, "absent")
    made = N.sum(seen * N.input(np.array([np.nan, 1.0, 1.0])), "taps")
    assert is_inside(made, np.array([[[3.0], [np.nan]]])).all()
    assert not is_inside(made, np.array([[[4.0], [np.nan]]])).all()


def test_the_zeros_between_spread_elements_cost_no_rounding() -> None:
    x, w = np.abs(floats(RNG.standard_normal((1, 64)))), np.abs(floats(RNG.standard_normal(16)))

    def width(fill: Filler) -> Any_:
        N = Bands(CLAIM, {})
        made = N.matmul(N.windows(N.spread(N.input(x), (8,), fill), 16, fill=fill), N.input(w)[:, None], "conv")
        return np.median((made.hi - made.lo) / made.hi)

    assert width("absent") < 0.3 * width(0.0)  # 2 terms and a product, of 16 and a product


def test_a_sum_along_several_axes_is_that_of_their_elements() -> None:
    x = floats(RNG.standard_normal((2, 3, 4, 5)))
    B = Bands(CLAIM, {})
    for axes in ((-1, -2), (-1, -3), (0, 2, 3), (-2,)):
        for word, want in (("sum", x.sum), ("mean", x.mean), ("max", x.max)):
            made = getattr(B, word)(B.input(x), axis=axes)
            assert is_inside(made, want(axis=axes, keepdims=True)).all()
            assert not is_inside(made, want(axis=axes, keepdims=True) + 1e-3).any()
            for N in OTHERS:
                assert is_inside(made, numbers(getattr(N, word)(N.input(x), axis=axes))).all()
        sets = B.mean_var(B.input(x), axis=axes)
        for N in OTHERS:
            for made, got in zip(sets, N.mean_var(N.input(x), axis=axes), strict=True):
                assert is_inside(made, numbers(got)).all()
        for made, want in zip(sets, (x.mean, x.var), strict=True):
            assert is_inside(made, want(axis=axes, keepdims=True)).all()


OTHERS = (Exact({}), Exact({}, bits=100), Simulated(CLAIM, KernelManner("random"), {}))


def numbers(made: Quantity) -> Any_:
    return np.asarray(made.x, dtype=np.float64)


def test_exponentials_are_not_added_up_along_several_axes() -> None:
    N = Bands(CLAIM, {})
    x = N.input(np.zeros((2, 3)))
    with pytest.raises(OracleError, match="join the axes before the exp"):
        N.sum(N.exp(x - N.shift(x)), "sum", (-1, -2))


# -- R18: values added at places


def added_up(into: Any_, index: Any_, values: Any_) -> Any_:
    made = into.astype("f4").copy()
    for place, value in zip(index, values, strict=True):
        made[place] = np.float32(made[place] + np.float32(value))
    return made.astype("f8")


INDEX = np.array([0] * 1500 + [1] * 3 + [2])
VALUES = floats(RNG.uniform(0.5, 1.5, len(INDEX)))


def scattered(N: Any_, how: str = "sum") -> Quantity:
    made: Quantity = N.scatter(N.input(np.array([0.0, 0.5, 0.0, 7.0])), INDEX, N.input(VALUES), how)
    return made


def test_a_place_errs_by_as_many_additions_as_it_has_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    got = added_up(np.array([0.0, 0.5, 0.0, 7.0]), INDEX, VALUES)
    made = scattered(Bands(CLAIM, {}))
    assert is_inside(made, got).all()
    width = (made.hi - made.lo) / F32.u
    assert width[1] < 100 < width[0]
    monkeypatch.setattr(scatter_rule, "_growth_by_terms", lambda N, terms, name: (np.full(terms.shape, F32.u), 0.0))
    assert not is_inside(scattered(Bands(CLAIM, {})), got).all()  # as if each place were added to once


def test_a_place_that_gets_one_value_or_none_is_exact() -> None:
    made = scattered(Bands(CLAIM, {}))
    assert made.lo[2] == made.hi[2] == VALUES[-1]
    assert made.lo[3] == made.hi[3] == 7.0
    assert not is_inside(made, np.array([made.lo[0], made.lo[1], np.nextafter(np.float32(VALUES[-1]), 9), 7.0])).all()


def test_values_that_are_put_at_one_place_are_the_last_or_any() -> None:
    for ends in (None, BallEnds()):
        last, some = (scattered(Bands(CLAIM, {}, ends=ends), how) for how in ("last", "any"))
        assert last.is_point
        assert [float(one) for one in last.lo] == [VALUES[1499], VALUES[1502], VALUES[1503], 7.0]
        assert [float(some.lo[1]), float(some.hi[1])] == [VALUES[1500:1503].min(), VALUES[1500:1503].max()]


def test_infinities_and_nan_stay_at_their_place() -> None:
    index, values = np.array([0, 0, 1, 1, 2, 3]), np.array([INF, 1.0, INF, -INF, np.nan, 5.0])
    for N in (Bands(CLAIM, {}), Bands(CLAIM, {}, ends=BallEnds())):
        made = N.scatter(N.input(np.ones(4)), index, N.input(values))
        assert is_inside(made, np.array([INF, np.nan, np.nan, 6.0])).all()
        assert not is_inside(made, np.array([1.0, 1.0, 1.0, 5.0])).any()


# -- R19: products of many factors


def multiplied(x: Any_, tree: bool) -> Any_:
    x = x.astype("f4")
    while tree and len(x) > 1:
        half = (len(x) + 1) // 2
        x = np.concatenate([x[: len(x) - half] * x[half:], x[len(x) - half : half]])
    return (x if tree else np.multiply.accumulate(x))[-1:].astype("f8")


def test_a_product_errs_by_all_of_its_multiplications() -> None:
    x = floats(1 + 2.0**-13 * RNG.uniform(0.9, 1, 4000))
    for N in (Bands(CLAIM, {}), Bands(CLAIM, {}, ends=BallEnds())):
        a = N.input(x[:400] if N.E.eps == 0 else x)
        for tree in (False, True):
            got = multiplied(np.asarray(a.lo, dtype=np.float64), tree)
            assert is_inside(N.product(a), got).all()
    N = Bands(Accuracy(adds=0), {})
    exact = np.multiply.accumulate(x.astype(np.longdouble))
    errors = np.abs(np.multiply.accumulate(x.astype("f4")).astype("f8") - exact) / exact / F32.u
    assert errors.max() > 3  # more than the one rounding of a number that is stored
    assert is_inside(N.running_product(N.input(x)), np.multiply.accumulate(x.astype("f4")).astype("f8")).all()


def test_what_underflow_takes_from_a_product_is_multiplied_with_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    x = floats([1e-25, 1e-25, 1e20, 1e15])
    got = multiplied(x, tree=False)
    assert got == 0
    assert multiplied(floats([1e-25, 1e20, 1e-25, 1e15]), tree=False) > 9e-16
    assert is_inside(Bands(CLAIM, {}).product(Bands(CLAIM, {}).input(x)), got).all()
    monkeypatch.setattr(product_rule, "largest_part", lambda size: np.ones(size.shape))
    assert not is_inside(Bands(CLAIM, {}).product(Bands(CLAIM, {}).input(x)), got).all()  # as if nothing came after it


def test_where_the_order_of_factors_decides_on_overflow_nothing_is_judged() -> None:
    N = Bands(CLAIM, {})
    made = N.running_product(N.input(floats([[1e30, 1e30, 1e-30, 1.0], [1e30, 1e30, 2.0, 1.0]])))
    assert is_inside(made, np.array([[1e30, INF, 5.0, np.nan], [floats(1e30), INF, INF, INF]])).tolist() == [
        [False, True, True, True],
        [True, True, True, True],
    ]
    assert not is_inside(made, np.array([[1e30, 0.0, 0.0, 0.0], [1e30, 0.0, 0.0, 0.0]]))[1].any()


def test_zeros_signs_and_special_values_of_a_product() -> None:
    for N in (Bands(CLAIM, {}), Bands(CLAIM, {}, ends=BallEnds())):
        made = N.running_product(N.input(np.array([[-2.0, -3.0, 0.0, 5.0], [INF, -1.0, 0.0, 1.0], [np.nan, 1, 2, 3]])))
        assert is_inside(made, np.array([[-2.0, 6.0, 0.0, 0.0], [INF, -INF, np.nan, np.nan], [np.nan] * 4])).all()
        assert not is_inside(made, np.array([[2.0, -6.0, 1e-40, 1e-40], [-INF, INF, 0.0, 0.0], [1.0] * 4])).any()


# -- R20: places


def test_any_place_of_equal_maxima_is_right_and_none_that_has_no_name() -> None:
    N = Bands(CLAIM, {})
    x = np.array([[1.0, 5.0, 5.0, 0.0], [-INF, -INF, -INF, -INF]])
    made = N.places(N.input(x), np.array([[10, 11, 12, 13], [-1, 0, 1, -1]]))
    holds = made.how[1].holds
    assert [holds(np.array(one)).tolist() for one in ([[11], [0]], [[12], [1]], [[10], [-1]])] == [
        [True, True], [True, True], [False, False],
    ]  # fmt: skip


def test_the_place_of_a_computed_maximum_is_any_that_rounding_may_make_the_greatest() -> None:
    x = floats([[1.0, 1.0 + 2.0**-23, 0.5]])
    N = Bands(CLAIM, {})
    point, computed = N.places(N.input(x)), N.places(N.input(x) * floats(1 / 3))
    assert point.how[1].right.tolist() == [[False, True, False]]
    assert computed.how[1].right.tolist() == [[True, True, False]]


def test_a_claim_may_mean_the_first_or_the_last_of_equal_places() -> None:
    x = np.array([[1.0, 5.0, 5.0, 0.0], [-INF, -INF, -INF, -INF]])
    names = np.array([[10, 11, 12, 13], [-1, 0, 1, -1]])
    right = {ties: Bands(CLAIM, {}, special=Special(ties=ties)) for ties in ("first", "last")}
    sets = {ties: N.places(N.input(x), names).how[1].right.tolist() for ties, N in right.items()}
    assert sets["first"] == [[False, True, False, False], [False, True, False, False]]
    assert sets["last"] == [[False, False, True, False], [False, False, True, False]]
    N = right["first"]
    computed = N.places(N.input(floats([[1.0, 1.0 + 2.0**-23, 0.5]])) * floats(1 / 3))
    assert computed.how[1].right.tolist() == [[True, True, False]]  # rounding may make them equal, or not


def test_a_maximum_drops_a_nan_or_keeps_it_unless_a_claim_says_that_it_propagates() -> None:
    given = {"x": floats([[[[1.0, np.nan, 2.0, 3.0]]]]).astype("f4")}
    kept, dropped = (floats([[[[one, 3.0]]]]).astype("f4") for one in (np.nan, 1.0))
    for special, statuses in ((Special(), ["kept", "kept"]), (Special(nan="propagate"), ["kept", "broken"])):
        assert [judge("max_pool2d", given, {"y": y}, special=special).status for y in (kept, dropped)] == statuses
    index = {name: np.int32([[[[one, 3]]]]) for name, one in (("of NaN", 1), ("of the number", 0))}
    verdicts = [
        judge("max_pool2d_with_indices", given, {"y": kept, "index": one}, special=Special(nan="propagate"))
        for one in index.values()
    ]
    assert [one.status for one in verdicts] == ["kept", "broken"]
    assert judge("max_pool2d_with_indices", given, {"y": dropped, "index": index["of the number"]}).status == "kept"
    with pytest.raises(OracleError, match="nan='propagate': expected row or ieee or ignore"):
        judge("argmax", {"x": given["x"][0, 0]}, {"index": np.int32([1])}, special=Special(nan="propagate"))
