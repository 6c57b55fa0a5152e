"""Convolutions by Fourier transforms: an op with a bound of its own."""

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import judge
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.ops.fft_conv2d import loss

Numbers = NDArray[np.float32]


def by_fft(x: Numbers, w: Numbers, bias: Numbers, extra: int = 1) -> Numbers:
    """numpy's transforms in float32, of lengths that are powers of two; `extra`: 0 for images that wrap around."""
    lengths = [1 << (n + extra * (k - 1) - 1).bit_length() for n, k in zip(x.shape[2:], w.shape[2:], strict=True)]
    of_x, of_w = np.fft.rfft2(x, lengths), np.fft.rfft2(w[:, :, ::-1, ::-1], lengths)
    assert of_x.dtype == np.complex64
    full = np.fft.irfft2(np.einsum("bchw,fchw->bfhw", of_x, of_w), lengths).astype(np.float32)
    down, across = (slice(k - 1, n) for n, k in zip(x.shape[2:], w.shape[2:], strict=True))
    return full[:, :, down, across] + bias.reshape(-1, 1, 1)


def stage_by_stage(x: NDArray[np.complex64], sign: float, twiddle_units: float) -> NDArray[np.complex64]:
    """Radix 2, decimated in time, along the last axis; each twiddle errs by up to so many units."""
    n = x.shape[-1]
    if n == 1:
        return x
    even, odd = (stage_by_stage(x[..., k::2], sign, twiddle_units) for k in (0, 1))
    exact = np.exp(sign * 2j * np.pi * np.arange(n // 2) / n)
    twiddle = (exact * (1 + twiddle_units * 2.0**-24 * (-1.0) ** np.arange(n // 2))).astype(np.complex64)
    return np.concatenate([even + twiddle * odd, even - twiddle * odd], axis=-1)


def rows_by_stages(x: Numbers, w: Numbers, units: float) -> Numbers:
    """A convolution of rows, of one channel and one filter."""
    n = 1 << (x.shape[-1] + w.shape[-1] - 2).bit_length()
    of_x, of_w = (np.zeros(n, np.complex64) for _ in range(2))
    of_x[: x.shape[-1]], of_w[: w.shape[-1]] = x[0, 0], w[0, 0, ::-1]
    product = stage_by_stage(of_x, -1.0, units) * stage_by_stage(of_w, -1.0, units)
    y = stage_by_stage(product, 1.0, units).real * np.float32(1 / n)
    return y[None, None, w.shape[-1] - 1 : x.shape[-1]]


def case(scale: float = 1.0, spike: float = 0.0) -> dict[str, Numbers]:
    rng = np.random.default_rng(36)
    shapes = {"x": (2, 3, 20, 13), "w": (4, 3, 5, 3), "bias": (4,)}
    made = {name: (scale * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}
    made["x"][:, :, 7, 5] += np.float32(spike)
    return made


@pytest.mark.parametrize(("scale", "spike"), [(1.0, 0.0), (1.0, 1e4), (1e-3, 0.0), (1e-21, 0.0), (1e15, 0.0)])
def test_a_convolution_by_transforms_is_kept(scale: float, spike: float) -> None:
    given = case(scale, spike)
    exact = find("conv2d").compute(given, {})["y"]
    np.testing.assert_array_equal(find("fft_conv2d").compute(given, {})["y"], exact)
    assert judge("fft_conv2d", given, {"y": by_fft(**given)}).status == "kept"


def test_beside_a_large_number_it_is_no_plain_convolution() -> None:
    given = case(spike=1e4)
    assert judge("conv2d", given, {"y": by_fft(**given)}).status == "broken"


def test_images_that_wrap_around_and_a_wrong_tap_are_found() -> None:
    given = case()
    y = by_fft(given["x"], given["w"], given["bias"], extra=0)
    assert judge("fft_conv2d", given, {"y": y}).status == "kept", "16 x 32 places: nothing that is returned wraps"
    short = {**given, "x": given["x"][:, :, :16, :8]}
    wrapped = np.fft.irfft2(
        np.einsum("bchw,fchw->bfhw", np.fft.rfft2(short["x"]), np.fft.rfft2(given["w"][:, :, ::-1, ::-1], (16, 8))),
        (16, 8),
    )[:, :, 3:15, 1:7]
    assert judge("fft_conv2d", short, {"y": wrapped.astype(np.float32)}).status == "broken"
    other = {**given, "w": given["w"] * np.float32(1 + 2.0**-10)}
    assert judge("fft_conv2d", other, {"y": by_fft(**given)}).status == "broken"


@pytest.mark.parametrize("units", [0.0, 5.0])
def test_stages_with_twiddles_that_err_are_kept(units: float) -> None:
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal((1, 1, n)).astype(np.float32) for n in (900, 60))
    x[..., 450] = 1e3
    given = {"x": x, "w": w, "bias": np.zeros(1, np.float32)}
    y = rows_by_stages(x, w, units)
    assert judge("fft_conv1d", given, {"y": y}).status == "kept"
    if units:
        off = np.abs(y - find("fft_conv1d").compute(given, {})["y"]).max()
        assert off > loss(x[:, :, None], w[:, :, None], 0).max(), "a bound without stages accuses it"


def test_infinities_and_nan_leave_the_other_images_judged() -> None:
    given = case()
    y = by_fft(**given)
    given["x"][0, 0, 0, 0] = np.inf
    verdict = judge("fft_conv2d", given, {"y": y})
    assert verdict.status == "kept"
    assert verdict.judged == y[1].size
