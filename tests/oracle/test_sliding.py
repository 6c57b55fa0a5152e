"""Convolutions and pools: right answers of other algorithms are kept, and the mistakes people make are broken."""

from itertools import product
from math import gcd
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle import judge
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.ops.winograd_conv2d import OF_W, OF_X, OF_Y
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.words import sliding

Any_ = Any
RNG = np.random.default_rng(7)
CASES = [
    # places, window, stride, pad, dilation
    ((7,), (3,), (1,), (1,), (1,)), ((9,), (2,), (3,), (0,), (2,)), ((5, 6), (3, 3), (1, 1), (1, 1), (1, 1)),
    ((7, 4), (3, 1), (2, 3), (2, 0), (1, 1)), ((4, 8), (2, 3), (1, 2), (1, 2), (2, 1)),
    ((3, 4, 5), (2, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 2)),
]  # fmt: skip
SUFFIXES = ("_d", "_h", "_w")


def scalars(**lists: tuple[int, ...]) -> dict[str, float | str]:
    return {
        f"{name}{suffix}": value
        for name, values in lists.items()
        for suffix, value in zip(SUFFIXES[-len(values) :], values, strict=True)
    }


def taps(places: Any_, window: Any_, stride: Any_, pad: Any_, dilation: Any_, out: Any_) -> Any_:
    """For each tap of a window at a place of y, its place in x, if that is inside."""
    for tap in product(*map(range, window)):
        at = tuple(o * s - p + t * d for o, s, p, t, d in zip(out, stride, pad, tap, dilation, strict=True))
        if all(0 <= one < n for one, n in zip(at, places, strict=True)):
            yield tap, at


def outs(places: Any_, window: Any_, stride: Any_, pad: Any_, dilation: Any_) -> Any_:
    sizes = zip(places, window, stride, pad, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes)


@pytest.mark.parametrize(("places", "window", "stride", "pad", "dilation"), CASES)
def test_a_convolution_by_loops_is_kept_and_one_with_a_mistake_is_broken(
    places: Any_, window: Any_, stride: Any_, pad: Any_, dilation: Any_
) -> None:
    x = RNG.standard_normal((2, 3, 2, *places)).astype("f4")
    w, bias = RNG.standard_normal((3, 4, 2, *window)).astype("f4"), RNG.standard_normal((3, 4)).astype("f4")
    size = outs(places, window, stride, pad, dilation)
    y = np.zeros((2, 3, 4, *size), "f4")
    for out in product(*map(range, size)):
        for tap, at in taps(places, window, stride, pad, dilation, out):
            y[(..., *out)] += (x[(..., *at)][:, :, None] * w[(..., *tap)][None]).sum(-1, dtype="f4")
    y += bias[(..., *[None] * len(places))]
    op = f"grouped_conv{len(places)}d" if len(places) < 3 else "conv3d"
    how = scalars(stride=stride, pad=pad, dilation=dilation)
    assert judge(op, {"x": x, "w": w, "bias": bias}, {"y": y}, scalars=how).status == "kept"
    for wrong in (y - 1e-3, np.roll(y, 1, axis=1), np.flip(y, -1) if size[-1] > 1 else -y):
        assert (
            judge(op, {"x": x, "w": w, "bias": bias}, {"y": np.ascontiguousarray(wrong)}, scalars=how).status
            == "broken"
        )


@pytest.mark.parametrize(("places", "window", "stride", "pad", "dilation"), CASES)
def test_a_transposed_convolution_adds_each_x_to_a_window(
    places: Any_, window: Any_, stride: Any_, pad: Any_, dilation: Any_
) -> None:
    sizes = zip(places, window, stride, pad, dilation, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in sizes)
    x = RNG.standard_normal((2, 3, *places)).astype("f4")
    w, bias = RNG.standard_normal((3, 4, *window)).astype("f4"), RNG.standard_normal(4).astype("f4")
    y = np.zeros((2, 4, *size), "f4")
    for out in product(*map(range, places)):  # an x is a place of the convolution of which this is the transpose
        for tap, at in taps(size, window, stride, pad, dilation, out):
            y[(..., *at)] += np.einsum("bc,cf->bf", x[(..., *out)], w[(..., *tap)]).astype("f4")
    y += bias[(..., *[None] * len(places))]
    name = f"conv_transpose{len(places)}d"
    arrays = {"x": x, "w": w, "bias": bias}
    if len(places) == 3:
        arrays, y = {"x": x[:, None], "w": w[None], "bias": bias[None]}, y[:, None]
    how = scalars(stride=stride, pad=pad, dilation=dilation)
    assert judge(name, arrays, {"y": y}, scalars=how).status == "kept"
    y[(0, *[0] * (y.ndim - 1))] += np.float32(1e-3)
    assert judge(name, arrays, {"y": y}, scalars=how).status == "broken"


@pytest.mark.parametrize("seed", range(12))
def test_a_transposed_convolution_by_phases_is_the_one_over_zeros(seed: int) -> None:
    """An infinite weight beside the zeros may make NaN, and phases would never multiply it."""
    rng = np.random.default_rng(seed)
    count = 1 + seed % 3
    stride, dilation, window, places = (rng.integers(1, most, count).tolist() for most in (4, 4, 6, 5))
    stride[0], window = 2, [max(one, step) for one, step in zip(window, stride, strict=True)]
    dilation = [d if gcd(d, step) == 1 else 1 for d, step in zip(dilation, stride, strict=True)]
    pad = [int(rng.integers(0, d * (k - 1) // 2 + 1)) for d, k in zip(dilation, window, strict=True)]
    more = [step - 1 for step in stride]
    whole = {name: rng.integers(-9, 10, shape).astype("f8")
             for name, shape in {"x": (2, 6, *places), "w": (6, 2, *window), "bias": (4,)}.items()}  # fmt: skip

    def answer(*, counts_absent: bool) -> Any_:
        N = Exact({})
        N.counts_absent = counts_absent
        x, w, bias = (N.input(one) for one in whole.values())
        return sliding.conv_transposed(N, x, w, bias, stride, pad, dilation, more, 2, "conv").x

    assert np.array_equal(answer(counts_absent=False), answer(counts_absent=True))
    whole["w"][(0, 0, *[0] * count)] = np.inf
    with np.errstate(invalid="ignore"):
        assert np.array_equal(answer(counts_absent=False), answer(counts_absent=True), equal_nan=True)


@pytest.mark.parametrize(("places", "window", "stride", "pad", "dilation"), CASES)
def test_pools_by_loops_are_kept_and_those_with_a_mistake_are_broken(
    places: Any_, window: Any_, stride: Any_, pad: Any_, dilation: Any_
) -> None:
    pad = tuple(min(p, k // 2) for p, k in zip(pad, window, strict=True))
    x = np.rint(2 * RNG.standard_normal((2, 3, *places)) - 8).astype("f4")  # negative, with ties
    size = outs(places, window, stride, pad, dilation)
    most, where = np.full((2, 3, *size), -np.inf, "f4"), np.zeros((2, 3, *size), np.int64)
    total, inside = np.zeros((2, 3, *size), "f4"), np.zeros(size, "f4")
    for out in product(*map(range, size)):
        for _, at in taps(places, window, stride, pad, dilation, out):
            here = x[(..., *at)]
            flat = int(np.ravel_multi_index(at, places))
            where[(..., *out)] = np.where(here >= most[(..., *out)], flat, where[(..., *out)])  # the last of equal ones
            most[(..., *out)] = np.maximum(most[(..., *out)], here)
            total[(..., *out)] += here
            inside[out] += 1
    n = len(places)
    how = scalars(window=window, stride=stride, pad=pad, dilation=dilation)

    def status(op: str, scalars: Any_ = how, **got: Any_) -> str:
        return judge(
            f"{op}{n}d" if "indices" not in op else op.replace("_with", f"{n}d_with"), {"x": x}, got, scalars=scalars
        ).status

    assert status("max_pool", y=most) == "kept"
    assert status("max_pool_with_indices", y=most, index=where) == "kept"
    assert status("max_pool_with_indices", y=most, index=(where + 1) % x[0, 0].size) == "broken"
    if any(pad):
        padded = np.where(inside < np.prod(window), np.maximum(most, 0), most)
        assert status("max_pool", y=padded) == "broken"  # 0 for -inf beyond the ends
    count = np.float32(np.prod(window))
    assert status("avg_pool", {**how, "exclude_pad": 1}, y=total / inside) == "kept"
    assert status("avg_pool", y=total / count) == "kept"
    if any(pad):
        assert status("avg_pool", {**how, "exclude_pad": 1}, y=total / count) == "broken"
        assert status("avg_pool", y=total / inside) == "broken"


def test_parts_of_an_adaptive_pool_may_share_a_place() -> None:
    x = RNG.standard_normal((1, 2, 7)).astype("f4")
    parts = [x[..., i * 7 // 3 : -(-(i + 1) * 7 // 3)] for i in range(3)]
    means, most = (np.stack([getattr(part, word)(-1) for part in parts], axis=-1) for word in ("mean", "max"))
    assert judge("adaptive_avg_pool1d", {"x": x}, {"y": means}, scalars={"out_w": 3}).status == "kept"
    assert judge("adaptive_max_pool1d", {"x": x}, {"y": most}, scalars={"out_w": 3}).status == "kept"
    first = np.array([0, 2, 4], np.int32)
    at = first + np.stack([part.argmax(-1) for part in parts], axis=-1).astype(np.int32)
    for index, status in ((at, "kept"), (at - first, "broken")):
        answers = {"y": most, "index": index}
        assert judge("adaptive_max_pool1d_with_indices", {"x": x}, answers, scalars={"out_w": 3}).status == status
    floored = np.stack([x[..., i * 7 // 3 : (i + 1) * 7 // 3].mean(-1) for i in range(3)], axis=-1)
    assert judge("adaptive_avg_pool1d", {"x": x}, {"y": floored}, scalars={"out_w": 3}).status == "broken"


def test_a_padding_of_an_axis_that_is_not_there_is_an_error() -> None:
    x, w = np.zeros((1, 1, 5), "f4"), np.zeros((1, 1, 3), "f4")
    with pytest.raises(OracleError, match=r"== 1"):
        judge(
            "conv1d",
            {"x": x, "w": w, "bias": np.zeros(1, "f4")},
            {"y": np.zeros((1, 1, 3), "f4")},
            scalars={"pad_h": 1},
        )


def test_nan_in_one_window_leaves_the_others_judged() -> None:
    x = np.array([[[np.nan, 1, 2, 5]]], "f4")
    how: dict[str, float | str] = {"window_w": 2}
    assert judge("max_pool1d", {"x": x}, {"y": np.array([[[1, 5]]], "f4")}, scalars=how).status == "kept"
    assert judge("max_pool1d", {"x": x}, {"y": np.array([[[1, 2]]], "f4")}, scalars=how).status == "broken"


def test_rows_are_taken_added_and_multiplied() -> None:
    w, index = RNG.standard_normal((5, 3)).astype("f4"), np.array([4, 0, 0, 2], np.int32)
    assert judge("embedding", {"index": index, "w": w}, {"y": w[index]}).status == "kept"
    assert judge("embedding", {"index": index, "w": w}, {"y": w[index - 1]}).status == "broken"
    into, values = RNG.standard_normal((5, 3)).astype("f4"), RNG.standard_normal((4, 3)).astype("f4")
    y = into.copy()
    np.add.at(y, index, values)
    arrays = {"into": into, "index": index, "values": values}
    assert judge("index_add", arrays, {"y": y}).status == "kept"
    y[0] = into[0] + values[2]  # one of two that went to the same row is lost
    assert judge("index_add", arrays, {"y": y}).status == "broken"
    x = RNG.standard_normal((2, 40)).astype("f4")
    assert judge("cumprod", {"x": x}, {"y": np.multiply.accumulate(x, axis=1)}).status == "kept"
    exclusive = np.concatenate([np.ones((2, 1), "f4"), np.multiply.accumulate(x, axis=1)[:, :-1]], axis=1)
    assert judge("cumprod", {"x": x}, {"y": exclusive}).status == "broken"


def winograd(x: Any_, w: Any_, rows_first: bool = False) -> Any_:
    """One tile of y by F(4 x 4, 3 x 3), in float32."""
    of_x, of_w, of_y = (np.asarray(one, "f4") for one in (OF_X, OF_W / 24, OF_Y))

    def transformed(m: Any_, a: Any_) -> Any_:
        return m @ (a @ m.T) if rows_first else (m @ a) @ m.T

    tiles, taps = transformed(of_x, x), transformed(of_w, w)
    return transformed(of_y, np.einsum("cij,fcij->fij", tiles, taps))


def test_a_convolution_by_winograd_is_an_op_of_its_own() -> None:
    x, w = RNG.standard_normal((3, 6, 6)).astype("f4"), RNG.standard_normal((2, 3, 3, 3)).astype("f4")
    x[:, 5, 2] = 1e4  # the other places of the tile lose the digits of this one
    none = np.zeros(2, "f4")
    inputs, y = {"x": x[None], "w": w, "bias": none}, winograd(x, w)[None]
    exact = find("conv2d").compute(inputs, {})["y"]
    np.testing.assert_allclose(find("winograd_conv2d").compute(inputs, {})["y"], exact, rtol=0, atol=1e-9)
    assert judge("winograd_conv2d", inputs, {"y": y}).status == "kept"
    assert judge("conv2d", inputs, {"y": y}).status == "broken"
    w[0, 0, 0, 0] += 1
    assert judge("winograd_conv2d", inputs | {"w": w}, {"y": y}).status == "broken"


@pytest.mark.parametrize("rows_first", [False, True])
def test_winograds_transforms_may_go_along_rows_or_columns_first(rows_first: bool) -> None:
    x, w = np.zeros((2, 6, 6), "f4"), np.zeros((4, 2, 3, 3), "f4")
    x[:] = RNG.standard_normal(x.shape)
    w[0] = RNG.standard_normal((2, 3, 1)) * [1, -2, 1]  # the sum of a row is 0, and that of a column is not
    w[1] = w[0].transpose(0, 2, 1)
    w[2] = w[3] = RNG.standard_normal((2, 3, 3)) * 2.0**-140
    w[2, 0, 2] = -1e9, -1.5e9, -1e9
    x[0, 4] = [-8.2192e29, 1.7147e29, -5.1151e29, 4.4853e29, 4.781e28, 1.8014e29]  # sums of its columns are -inf
    inputs = {"x": x[None], "w": w, "bias": np.zeros(4, "f4")}
    with np.errstate(all="ignore"):
        y = winograd(x, w, rows_first)[None]
    assert np.isfinite(y[0, 2, 0, 1]) == rows_first
    assert judge("winograd_conv2d", inputs, {"y": y}).status == "kept"
    x[0, 4] = 1
    y = winograd(x, w, rows_first)[None]
    assert judge("winograd_conv2d", inputs, {"y": y}).status == "kept"
    y[0, 3, 1, 1] += 2.0**-130
    assert judge("winograd_conv2d", inputs, {"y": y}).status != "kept"
