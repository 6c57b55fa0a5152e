"""The rules N1 to N12: in each test a right quantizer lies outside, or a wrong one is missed, without the rule."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.accuracy.quantizing import Quantizing, Zeros
from kfuzz.oracle.accuracy.rounding import Divide
from kfuzz.oracle.numbers.elements import BF16, E2M1, E4M3, E5M2, E8M0, F32, I8, U8, Element, store, values
from kfuzz.oracle.numbers.grid import Direction, grid_of
from kfuzz.oracle.numbers.verdict import Verdict, Why

F = np.float32
Singles = NDArray[np.float32]
RNG = np.random.default_rng(3)


def claim(divide: Divide = "ieee", form: str | None = None, **words: Any) -> Accuracy:  # noqa: ANN401  words of a claim
    return Accuracy(divide=divide, form=form, quantize=Quantizing(**words))


def codes(t: ArrayLike, element: Element = E4M3, direction: Direction = "even") -> NDArray[Any]:
    """t on the grid, saturated; NaN stays."""
    return store(grid_of(element).round(np.asarray(t, dtype=np.float64), direction), element)


def verdict(x: ArrayLike, q: NDArray[Any], s: ArrayLike, accuracy: Accuracy, **scalars: float) -> Verdict:
    """The verdict on one row, a group of 128 or as many as are said."""
    scale = s if isinstance(s, np.ndarray) else np.array([[s]], F)
    answer = {"q": q.reshape(1, -1), "scale": scale.reshape(1, -1)}
    return judge("group_quantize", {"x": np.asarray(x, F).reshape(1, -1)}, answer, accuracy, None, scalars)


def in_a_group(top: float, *others: float) -> Singles:
    """A row whose largest element is `top`."""
    return np.array([top, *others], F)


def test_n1_a_number_near_a_tie_may_have_either_neighbour_and_no_other() -> None:
    x = in_a_group(448 * 1.1, 1.0625 * 1.1)
    s = F(448 * 1.1) / F(448)
    for number, status in ((1.0, "kept"), (1.125, "kept"), (1.25, "broken"), (0.9375, "broken")):
        assert verdict(x, codes([448, number]), s, claim("reciprocal")).status == status


def test_n1_values_are_compared_and_not_codes_so_that_minus_zero_is_zero() -> None:
    x = in_a_group(448, -1e-9)
    assert verdict(x, codes([448, -0.0]), 1.0, claim()).status == "kept"
    assert verdict(x, codes([448, 0.0]), 1.0, claim()).status == "kept"


def many_groups() -> tuple[Singles, Singles]:
    """Ties of e4m3 times a scale that is no power of two, moved by a few last places; and amax."""
    ends = grid_of(E4M3).middles
    scale = RNG.uniform(1, 2, (400, 1)).astype(F)
    x = (RNG.choice(ends, (400, 128)) * scale * (1 + 2.0**-23 * RNG.integers(-3, 4, (400, 128)))).astype(F)
    x[:, :1] = 448 * scale
    return x, np.abs(x).max(axis=1, keepdims=True)


def judge_groups(x: Singles, t: ArrayLike, s: Singles, accuracy: Accuracy, element: Element = E4M3) -> Verdict:
    answer = {"q": codes(t, element), "scale": s}
    return judge("group_quantize", {"x": x}, answer, accuracy, None, {"group": x.shape[1]})


def test_n2_the_roundings_from_the_written_scale_are_counted() -> None:
    x, amax = many_groups()
    s = amax / F(448)
    ways = {"ieee": x / s, "reciprocal": x * (F(1) / s)}
    assert judge_groups(x, ways["ieee"], s, claim("ieee", apply="divide")).status == "kept"
    assert judge_groups(x, ways["reciprocal"], s, claim("reciprocal", apply="divide")).status == "kept"
    assert judge_groups(x, ways["reciprocal"], s, claim("ieee", apply="divide")).status == "broken"
    by_inverse = x * (F(448) / amax)
    assert judge_groups(x, by_inverse, s, claim(apply="multiply")).status == "kept"
    assert judge_groups(x, by_inverse, s, claim("reciprocal", apply="divide")).status == "broken"


def test_n3_a_scale_is_amax_by_two_roundings_and_then_stored() -> None:
    x, amax = many_groups()
    for s in (amax / F(448), amax * (F(1) / F(448)), F(1) / (F(448) / amax)):
        assert judge_groups(x, x / s, s, claim(apply="divide")).status == "kept"
    assert (amax / F(448) != amax * (F(1) / F(448))).any()
    off = amax / F(448) * F(1 + 2**-21)
    found = judge_groups(x, x / off, off, claim(apply="divide"))
    assert (found.status, found.worst and found.worst.output) == ("broken", "scale")


def test_n3_a_scale_that_is_stored_narrow_is_rounded_to_its_type() -> None:
    x, amax = many_groups()
    s = BF16.round((amax / F(448)).astype(np.float64))
    answer = {"q": codes(x / s.astype(F)), "scale": store(s, BF16)}
    accuracy = claim(apply="divide", saturate="finite")
    assert judge("group_quantize", {"x": x}, answer, accuracy).status == "kept"
    unrounded = {"q": codes(x / (amax / F(448))), "scale": store(s, BF16)}
    assert judge("group_quantize", {"x": x}, unrounded, accuracy).status == "broken"


@pytest.mark.parametrize("divide", ["ieee", "reciprocal"])
def test_n4_a_power_of_two_divides_exactly_so_a_tie_has_one_right_code(divide: Divide) -> None:
    x = in_a_group(448 * 8, 1.0625 * 8, -1.1875 * 8)
    assert verdict(x, codes([448, 1.0, -1.25]), 8.0, claim(divide)).status == "kept"
    assert verdict(x, codes([448, 1.125, -1.25]), 8.0, claim(divide)).status == "broken"
    assert verdict(x, codes([448, 1.125, -1.25]), 8.0, claim("fast", apply="divide")).status == "kept"


def test_n4_an_amax_that_was_rounded_to_a_power_has_an_inverse_that_is_none() -> None:
    amax = np.nextafter(F(448 * 8), F(0))  # amax (1 / 448) is 8 in float32, and 448 / amax is more than 1 / 8
    x = in_a_group(amax, 1.0625 * 8)
    assert amax * F(1 / 448) == 8
    t = x * (F(448) / amax)
    assert t[1] > 1.0625
    assert verdict(x, codes(t), 8.0, claim()).status == "kept"
    assert verdict(x, codes(t), 8.0, claim(apply="divide")).status == "broken"


def powers(s: float) -> NDArray[Any]:
    return store(np.array([[s]]), E8M0)


def test_n5_a_quotient_beside_a_power_of_two_may_have_either_scale() -> None:
    up = claim(scale="power of two up", saturate="finite")
    x = in_a_group(np.nextafter(F(448), F(500)), 3.0)  # amax (1 / 448) is 1 + u, amax / 448 may be rounded to 1
    for s, status in ((1.0, "kept"), (2.0, "kept"), (4.0, "broken"), (0.5, "broken")):
        assert verdict(x, codes(x / F(s)), powers(s), up).status == status
    far = in_a_group(448 * 1.001, 3.0)
    assert verdict(far, codes(far), powers(1.0), up).status == "broken"


def test_n5_log2f_moves_the_edge_further_where_the_logarithm_is_large() -> None:
    top = F(448 * 2.0**60 * (1 + 2.0**-20))
    x = in_a_group(top, 1.0)
    by_log = claim(scale="power of two up", saturate="finite", log="log2f")
    by_bits = claim(scale="power of two up", saturate="finite")
    assert verdict(x, codes(x / F(2.0**60)), powers(2.0**60), by_log).status == "kept"
    assert verdict(x, codes(x / F(2.0**60)), powers(2.0**60), by_bits).status == "broken"


def test_n6_the_exponent_of_amax_is_exact_and_the_largest_elements_saturate() -> None:
    ocp = claim(scale="exponent of amax")
    x = in_a_group(500.0, 1.0)  # 2^(8 - 8) is the scale, and 500 lies beyond 448
    assert verdict(x, codes([448, 1.0]), powers(1.0), ocp).status == "kept"
    assert verdict(x, codes([np.nan, 1.0]), powers(1.0), ocp).status == "broken"
    assert verdict(x, codes([256, 0.5]), powers(2.0), ocp).status == "broken"
    assert verdict(x, codes([256, 0.5]), powers(2.0), claim(scale="power of two up")).status == "kept"
    either = claim(saturate="finite")  # a scale in e8m0 whose form is not claimed
    assert all(verdict(x, codes(x / s), powers(s), either).status == "kept" for s in (1.0, 2.0))


def two_levels(x: Singles, overall: float, *, rounded: bool = True) -> dict[str, NDArray[Any]]:
    """What a kernel of nvfp4 writes, by the scale that it stores or by the one before."""
    amax = np.abs(x).reshape(len(x), -1, 16).max(axis=2)
    exact = amax / F(6) * F(overall)
    stored = E4M3.round(exact.astype(np.float64))
    used = stored.astype(F) if rounded else exact
    t = x * np.repeat(F(overall) / used, 16, axis=1)
    return {"q": codes(t, E2M1), "scale": store(stored, E4M3)}


def test_n7_of_two_levels_the_stored_scale_over_the_overall_one_divides() -> None:
    x = RNG.standard_normal((200, 64)).astype(F)
    overall = float(F(448 * 6) / np.abs(x).max())
    inputs = {"x": x, "overall": np.array([overall], F)}
    assert judge("two_level_quantize", inputs, two_levels(x, overall)).status == "kept"
    assert judge("two_level_quantize", inputs, two_levels(x, overall, rounded=False)).status == "broken"


def test_n7_no_group_under_a_negative_overall_scale_is_judged_unless_it_is_zero() -> None:
    x = RNG.standard_normal((3, 64)).astype(F)
    x[:, 16:32] = 0
    inputs = {"x": x, "overall": np.array([-3.0], F)}
    either = claim(zeros="zero", form="x / (scale / overall)")
    for scale in (-1.0, 0.0, 2.0):
        scales = np.full((3, 4), scale)
        scales[:, 1] = 0.0
        answer = {"q": codes(np.where(x == 0, 0.0, 6.0), E2M1), "scale": store(scales, E4M3)}
        found = judge("two_level_quantize", inputs, answer, either)
        assert found.status == "kept"
        assert [reason.why for reason in found.reasons if reason.count] == [Why.NEGATIVE_AMAX]
        answer["q"] = codes(np.full_like(x, 6.0), E2M1)
        wrong = judge("two_level_quantize", inputs, answer, either)
        assert wrong.status == "broken"
        assert wrong.worst is not None
        assert 16 <= wrong.worst.index[1] < 32


@pytest.mark.parametrize(
    ("zeros", "scale", "status"),
    [("eps", 1e-10 / 448, "kept"), ("eps", 1.0, "broken"), ("one", 1.0, "kept"), ("one", 0.0, "broken"),
     ("zero", 0.0, "kept"), ("zero", 1.0, "broken"), (None, 0.0, "kept"), (None, 1.0, "kept"),
     (None, np.nan, "broken")],
)  # fmt: skip
def test_n8_a_group_of_zeros_has_the_scale_that_is_claimed_and_codes_of_zero(
    zeros: Zeros | None, scale: float, status: str
) -> None:
    accuracy = claim(zeros=zeros)
    assert verdict(np.zeros(4), codes(np.zeros(4)), F(scale), accuracy).status == status
    if status == "kept":
        assert verdict(np.zeros(4), codes([0, 0, np.nan, 0]), F(scale), accuracy).status == "broken"
        assert verdict(np.zeros(4), codes([0, 0, 1, 0]), F(scale), accuracy).status == "broken"


def test_n8_the_least_power_is_the_scale_of_zeros_where_it_is_claimed() -> None:
    accuracy = claim(scale="exponent of amax", zeros="least")
    assert verdict(np.zeros(4), codes(np.zeros(4)), powers(2.0**-127), accuracy).status == "kept"
    assert verdict(np.zeros(4), codes(np.zeros(4)), powers(1.0), accuracy).status == "broken"


def test_n9_a_nan_makes_its_element_or_its_group_nan_as_claimed() -> None:
    x = np.array([448, np.nan, 1.0, 2.0], F)
    by_element, by_group = codes([448, np.nan, 1, 2]), codes([np.nan] * 4)
    assert verdict(x, by_element, 1.0, claim(nan="element")).status == "kept"
    assert verdict(x, codes([448, 0, 1, 2]), 1.0, claim(nan="element")).status == "broken"
    assert verdict(x, by_element, np.nan, claim(nan="element")).status == "broken"
    assert verdict(x, by_group, np.nan, claim(nan="group")).status == "kept"
    assert verdict(x, by_element, 1.0, claim(nan="group")).status == "broken"  # fmaxf lost it
    silent = verdict(x, by_group, 17.0, claim())
    assert silent.status == "not judged"
    assert "NaN or infinity" in str(silent.reasons[0])


def test_n9_the_groups_beside_a_nan_are_judged() -> None:
    x = np.array([448, np.nan, 448, 2.0], F)
    right = verdict(x, codes([9, 9, 448, 2]), np.array([3, 1], F), claim(), group=2)
    assert (right.status, right.judged) == ("kept", 3)
    assert verdict(x, codes([9, 9, 448, 3]), np.array([3, 1], F), claim(), group=2).status == "broken"


def static(x: ArrayLike, q: NDArray[Any], scale: float, accuracy: Accuracy, zero: int = 0) -> Verdict:
    inputs = {
        "x": np.asarray(x, F).reshape(1, -1), "scale": np.array([[scale]], F), "zero": np.array([[zero]], np.int32),
    }  # fmt: skip
    return judge("static_quantize", inputs, {"q": q.reshape(1, -1)}, accuracy)


def test_n10_beyond_the_largest_number_the_claim_decides() -> None:
    x = [1000.0, 1.0]
    finite, nan = codes([448, 1]), codes([np.nan, 1])
    assert static(x, finite, 1.0, claim(saturate="finite")).status == "kept"
    assert static(x, nan, 1.0, claim(saturate="finite")).status == "broken"
    assert static(x, nan, 1.0, claim(saturate="nan")).status == "kept"
    assert static(x, finite, 1.0, claim(saturate="nan")).status == "broken"
    silent = static(x, nan, 1.0, claim())
    assert (silent.status, silent.judged) == ("kept", 1)
    infinite = store(np.array([np.inf, 1]), E5M2)
    assert static([1e6, 1], infinite, 1.0, claim(saturate="nan")).status == "kept"
    assert static([1e6, 1], infinite, 1.0, claim(saturate="finite")).status == "broken"


def test_n10_an_integer_may_wrap_around_where_it_is_claimed() -> None:
    wrapped = store(np.array([-56.0, 1]), I8)
    assert static([200, 1], wrapped, 1.0, claim(saturate="wrap", round="zero")).status == "kept"
    assert static([200, 1], wrapped, 1.0, claim(saturate="finite", round="zero")).status == "broken"


def test_a_zero_point_is_added_before_or_after_rounding() -> None:
    saturates = claim(saturate="finite")
    for first, second in ((3.0, 8.0), (4.0, 8.0)):  # 2.5 + 1: round(2.5) + 1 = 3, and round(3.5) = 4
        assert static([2.5, 7.0], store(np.array([first, second]), U8), 1.0, saturates, 1).status == "kept"
    assert static([2.5, 7.0], store(np.array([5.0, 8.0]), U8), 1.0, saturates, 1).status == "broken"
    assert static([-9.0, 7.0], store(np.array([0.0, 8.0]), U8), 1.0, saturates, 1).status == "kept"


def test_n11_the_written_scale_pins_an_amax_that_was_computed() -> None:
    x, w = RNG.standard_normal((256, 128)).astype(F), RNG.standard_normal(128).astype(F)
    mean = np.mean(x * x, axis=1, keepdims=True, dtype=F)
    y = x * (F(1) / np.sqrt(mean + F(1e-6))) * w
    accuracy = claim("ieee", apply="divide")

    def answer(y: Singles) -> dict[str, NDArray[Any]]:
        s = np.abs(y).max(axis=1, keepdims=True) / F(448)
        return {"q": codes(y / s), "scale": s}

    assert judge("rms_norm_quantize", {"x": x, "w": w}, answer(y), accuracy).status == "kept"
    rounded = BF16.round(y.astype(np.float64)).astype(F)
    assert judge("rms_norm_quantize", {"x": x, "w": w}, answer(rounded), accuracy).status == "broken"
    kept = Accuracy(divide="ieee", keep={"norm": BF16.name}, quantize=Quantizing(apply="divide"))
    assert judge("rms_norm_quantize", {"x": x, "w": w}, answer(rounded), kept).status == "kept"


def test_n12_stochastic_rounding_gives_one_of_two_neighbours() -> None:
    x = in_a_group(448, 1.03, 2.0)
    random = claim(round="stochastic", saturate="finite")
    for number, status in ((1.0, "kept"), (1.125, "kept"), (1.25, "broken")):
        assert verdict(x, codes([448, number, 2]), 1.0, random).status == status
    assert verdict(x, codes([448, 1.125, 2]), 1.0, claim()).status == "broken"
    assert verdict(x, codes([448, 1, 2.25]), 1.0, random).status == "broken"  # a number of the grid stays


def test_n12_half_away_and_toward_zero_are_claims() -> None:
    x = in_a_group(448, 1.0625, -1.1)
    away, cut = codes([448, 1.125, -1.125]), codes([448, 1.0, -1.0])
    assert verdict(x, away, 1.0, claim(round="away")).status == "kept"
    assert verdict(x, away, 1.0, claim()).status == "broken"
    assert verdict(x, cut, 1.0, claim(round="zero")).status == "kept"
    assert verdict(x, cut, 1.0, claim()).status == "broken"


def test_a_scale_that_is_wrong_is_accused_and_not_its_codes() -> None:
    x = in_a_group(448, 1.0)
    found = verdict(x, codes([224, 0.5]), 2.0, claim())
    assert (found.status, found.worst and found.worst.output) == ("broken", "scale")


def test_a_block_of_rows_and_columns_shares_a_scale() -> None:
    x = RNG.standard_normal((5, 7)).astype(F)
    s = np.array([[np.abs(x[r : r + 2, c : c + 3]).max() / F(448) for c in range(0, 7, 3)] for r in range(0, 5, 2)], F)
    full = np.repeat(np.repeat(s, 2, axis=0)[:5], 3, axis=1)[:, :7]
    axes = {"height": 2, "width": 3}
    answer = {"q": codes(x / full), "scale": s}
    assert judge("block_quantize", {"x": x}, answer, claim(), None, axes).status == "kept"
    other = {"q": codes(x / full), "scale": s[::-1]}
    assert judge("block_quantize", {"x": x}, other, claim(), None, axes).status == "broken"
    whole = {"q": codes(x / (np.abs(x).max() / F(448))), "scale": np.array([[np.abs(x).max() / F(448)]], F)}
    every: Any = {"height": "rows", "width": "cols"}
    assert judge("block_quantize", {"x": x}, whole, claim(), None, every).status == "kept"


def test_products_of_integers_are_exact_and_then_scaled() -> None:
    a, b = RNG.integers(-128, 128, (9, 70)).astype(np.int8), RNG.integers(-128, 128, (70, 5)).astype(np.int8)
    scale_a, scale_b = RNG.uniform(0.5, 2, (9, 1)).astype(F), RNG.uniform(0.5, 2, (1, 5)).astype(F)
    c = (a.astype(np.int32) @ b.astype(np.int32)).astype(F) * scale_a * scale_b
    inputs = {"a": a, "b": b, "scale_a": scale_a, "scale_b": scale_b}
    exact = Accuracy(accumulate="i32")
    assert judge("scaled_gemm", inputs, {"c": c}, exact).status == "kept"
    off = c * F(1 + 3 * 2.0**-23)
    assert judge("scaled_gemm", inputs, {"c": off}, exact).status == "broken"
    assert judge("scaled_gemm", inputs, {"c": off}, Accuracy()).status == "kept", "partner: a sum of floats may err so"


def test_each_block_of_k_has_its_own_scale() -> None:
    a, b = (store(grid_of(E4M3).round(RNG.standard_normal(shape)), E4M3) for shape in ((4, 96), (96, 6)))
    left, right = (RNG.uniform(0.5, 2, shape).astype(F) for shape in ((4, 3), (3, 6)))
    numbers = [E4M3.numbers[one.view(np.uint8)] for one in (a, b)]
    c = sum((numbers[0][:, i : i + 32] @ numbers[1][i : i + 32]) * left[:, i // 32][:, None] * right[i // 32]
            for i in range(0, 96, 32))  # fmt: skip
    inputs = {"a": a, "b": b, "scale_a": left, "scale_b": right}
    axes = {"depth": 32}
    assert judge("scaled_gemm", inputs, {"c": store(c, F32)}, None, None, axes).status == "kept"
    shifted = {**inputs, "scale_a": np.roll(left, 1, axis=1)}
    assert judge("scaled_gemm", shifted, {"c": store(c, F32)}, None, None, axes).status == "broken"


def fake(y: Singles, x: Singles, form: Element = E4M3) -> Verdict:
    accuracy = Accuracy(divide="ieee", form=form.name, quantize=Quantizing(apply="divide"))
    return judge("fake_quantize", {"x": x}, {"y": y}, accuracy)


@pytest.mark.parametrize("element", [E4M3, I8, E2M1], ids=str)
def test_an_unseen_scale_must_fit_a_whole_group(element: Element) -> None:
    x = RNG.standard_normal((60, 128)).astype(F)
    s = np.abs(x).max(axis=1, keepdims=True) / F(grid_of(element).largest)
    number = grid_of(element).round((x / s).astype(np.float64)).astype(F)
    assert fake(number * s, x, element).status == "kept"
    half = np.where(np.arange(128) < 64, np.nextafter(s, F(0)), np.nextafter(s, F(9)))
    inside = [fake((number * half)[row : row + 1], x[row : row + 1], element) for row in range(60)]
    assert all(one.status == "broken" for one in inside)
    assert any(one.is_joint and "no scale fits both elements" in one.detail for one in inside), (
        "by itself each is right"
    )
    assert fake(number * (s * F(1 + 2**-20)), x, element).status == "broken"


def test_an_unseen_scale_is_pinned_by_the_codes_too() -> None:
    x = RNG.standard_normal((40, 128)).astype(F)
    s = np.abs(x).max(axis=1, keepdims=True) / F(448)
    cut = grid_of(E4M3).round((x / s).astype(np.float64), "zero").astype(F)
    assert fake(cut * s, x).status == "broken"


def affine(x: Singles, *, shift: int = 0) -> dict[str, NDArray[Any]]:
    """What a right kernel writes for rows of one group in u8, or one whose zero point is off."""
    most, least = np.maximum(x.max(axis=1, keepdims=True), F(0)), np.minimum(x.min(axis=1, keepdims=True), F(0))
    s = np.maximum(most - least, F(1e-10)) / F(255)
    zero = np.rint(-least / s)
    q = np.clip(np.rint(x / s) + zero + shift, 0, 255)
    return {"q": codes(q, U8), "scale": s, "zero": codes(zero, U8)}


def test_a_zero_point_is_judged_as_it_was_written() -> None:
    x = (RNG.standard_normal((80, 64)) + RNG.uniform(-3, 3, (80, 1))).astype(F)
    accuracy = claim(apply="divide", saturate="finite", zeros="eps")
    right = affine(x)
    assert judge("affine_quantize", {"x": x}, right, accuracy).status == "kept"
    assert judge("affine_quantize", {"x": x}, affine(x, shift=1), accuracy).status == "broken"
    off = right | {"zero": codes(values(right["zero"]) + 1, U8)}
    found = judge("affine_quantize", {"x": x}, off, accuracy)
    assert (found.status, found.worst and found.worst.output) == ("broken", "zero")


def test_a_quotient_that_is_kept_in_bf16_is_rounded_there_first() -> None:
    x, amax = many_groups()
    s = amax / F(448)
    t = BF16.round((x / s).astype(np.float64))
    kept = Accuracy(divide="ieee", keep={"quotient": BF16.name}, quantize=Quantizing(apply="divide"))
    assert judge_groups(x, t, s, kept).status == "kept"
    assert judge_groups(x, x / s, s, kept).status == "kept"
    assert judge_groups(x, t, s, claim(apply="divide")).status == "broken"


def test_a_denormal_answer_does_not_tell_the_scale_of_its_group() -> None:
    """7 * 2^-24 has one digit of a number of the grid times the scale, and may lie nearer to another number of it."""
    x = np.float16([[4.768e-07, 0.5459, -4.5717e-05, 3.642e-05, -1.6348, -6.676e-06, 1.5576, 0.0197]])
    scale = np.float32(np.abs(x).max()) / np.float32(57344)
    grid = E5M2.numbers[np.isfinite(E5M2.numbers)]
    codes = grid[np.abs(x[..., None] / float(scale) - grid).argmin(axis=-1)]
    y = (np.float32(codes) * scale).astype(np.float16)
    verdict = judge("fake_quantize", {"x": x}, {"y": y}, Accuracy(form="e5m2"), scalars={"width": 8})
    assert verdict.status == "kept", verdict
