"""The host's fill of an array arrives bit for bit, on outputs and scratch alike."""

import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import Kernel, read
from kfuzz.claims.language.fill import FillError, fill_of
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices import ClaimError, Device, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu import device as gpu
from kfuzz.oracle.numbers.elements import ELEMENTS, F16, F32, F64

ATOMIC_SUM = """\
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..64", cols = "1..256" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ entry = "add_up", grid = "rows", block = "cols", args = ["y", "x", "cols"] }]
// ///
__global__ void add_up(float *y, const float *x, int cols) {
  atomicAdd(&y[blockIdx.x], x[blockIdx.x * cols + threadIdx.x]);
}
"""

MAXIMUM = """\
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..64", cols = "1..256" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] = -inf <- y" }
// launch = [{ entry = "largest", grid = 1, block = "rows", args = ["y", "x", "cols"] }]
// ///
__global__ void largest(float *y, const float *x, int cols) {
  for (int i = 0; i < cols; i++) y[threadIdx.x] = fmaxf(y[threadIdx.x], x[threadIdx.x * cols + i]);
}
"""

COPIES = """\
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..1", cols = "6..6" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y", %s }
// launch = [{ entry = "copy", grid = 1, block = 1, args = ["y", "f", "d", "h", "b", "i", "u"] }]
// ///
__global__ void copy(float *y, float *f, double *d, unsigned short *h, unsigned short *b, int *i, unsigned *u) {
  y[0] = f[0]; y[1] = (float)d[0]; y[2] = h[0]; y[3] = b[0]; y[4] = (float)i[0]; y[5] = (float)u[0];
}
""".replace('"y", "f"', '"x", "y", "f"').replace("copy(float *y", "copy(const float *x, float *y")

FILLS = ", ".join(
    f'{name} = "{element}[1] = {fill}"'
    for name, element, fill in (
        ("f", "f32", "1.5"),
        ("d", "f64", "-0.1"),
        ("h", "f16", "65504"),
        ("b", "bf16", "1"),
        ("i", "i32", "-3"),
        ("u", "u32", "7"),
    )
)


@pytest.fixture(scope="module", params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    made: Device = CpuDevice() if request.param == "cpu" else gpu.GpuDevice()
    yield made
    made.close()


def kernel(text: str) -> Kernel:
    return read(parse(Path("mine.cu"), text))


def trial(device: Device, text: str, rows: int = 3, cols: int = 40, check: bool = True) -> Trial:
    mine = kernel(text)
    x = np.random.default_rng(7).normal(size=(rows, cols)).astype(np.float32)
    return run_trial(mine, case_of(mine.op, {"x": x}), {}, device, Probe(check=check))


def test_an_output_that_the_host_clears_may_be_added_to(device: Device) -> None:
    assert not trial(device, ATOMIC_SUM.replace("f32[rows] <- y", "f32[rows] = 0 <- y")).errors


def test_an_output_that_the_host_does_not_clear_may_not_be_added_to(device: Device) -> None:
    assert trial(device, ATOMIC_SUM).errors


def test_an_output_that_the_host_fills_with_another_number_is_wrong_by_it(device: Device) -> None:
    assert trial(device, ATOMIC_SUM.replace("f32[rows] <- y", "f32[rows] = 1.5 <- y")).errors


@pytest.mark.parametrize("check", [False, True])
def test_a_maximum_may_start_from_an_output_of_minus_infinity(device: Device, check: bool) -> None:
    assert not trial(device, MAXIMUM, check=check).errors


def test_a_filled_output_that_is_never_written_holds_its_fill(device: Device) -> None:
    unwritten = MAXIMUM.replace("y[threadIdx.x] = fmaxf", "float z = fmaxf")
    (defect, *_) = trial(device, unwritten).errors
    assert "-inf" in defect.message


def test_every_element_type_is_filled_in_its_own_bits(device: Device) -> None:
    mine = kernel(COPIES % FILLS)
    x = np.zeros((1, 6), np.float32)
    outcome = device.run(mine.bind({"x": x}, {}).job, Probe())
    half, brain = int(np.float16(65504).view(np.uint16)), 0x3F80
    wanted = [1.5, np.float32(-0.1), half, brain, -3, 7]
    assert outcome.runs[0].outputs["y"].ravel().tolist() == wanted


@given(st.floats(width=32, allow_nan=False))
def test_a_float_is_its_own_bits(value: float) -> None:
    assert fill_of(repr(value), F32).bits == struct.unpack("<I", struct.pack("<f", value))[0]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_its_own_bits(value: float) -> None:
    assert fill_of(repr(value), F64).bits == struct.unpack("<Q", struct.pack("<d", value))[0]


@given(st.integers(0, 0x7BFF))
def test_a_half_is_its_own_bits(bits: int) -> None:
    value = np.array(bits, np.uint16).view(np.float16)
    assert fill_of(repr(float(value)), F16).bits == bits


def test_a_decimal_is_rounded_once() -> None:
    # 1 + 2^-24 lies halfway between two floats, and 1e-30 more is beyond it: by way of double both give 1.
    halfway = Fraction(1) + Fraction(1, 2**24)
    assert fill_of("1.000000059604644775390625", F32).bits == 0x3F800000
    assert halfway == Fraction("1.000000059604644775390625")
    assert fill_of("1.000000059604644775390626", F32).bits == 0x3F800001


@pytest.mark.parametrize(
    ("text", "element", "bits"),
    [
        ("-inf", "f32", 0xFF800000),
        ("inf", "f64", 0x7FF0000000000000),
        ("-inf", "bf16", 0xFF80),
        ("nan", "f16", 0x7E00),
        ("-0", "f32", 0x80000000),
        ("-1", "i32", 0xFFFFFFFF),
        ("4294967295", "u32", 0xFFFFFFFF),
        ("0.1", "bf16", 0x3DCD),
    ],
)
def test_a_fill_is_these_bits(text: str, element: str, bits: int) -> None:
    assert fill_of(text, ELEMENTS[element]).bits == bits


@pytest.mark.parametrize(
    ("text", "element", "said"),
    [
        ("1.5", "i32", "a fill of i32 is an integer from -2147483648 to 2147483647"),
        ("-1", "u32", "from 0 to 4294967295"),
        ("1e39", "f32", "beyond the largest f32; write inf"),
        ("65520", "f16", "beyond the largest f16"),
        ("one", "f32", "a fill of f32 is a decimal number, inf, -inf or nan"),
        ("1e99999999", "f64", "a decimal number"),
    ],
)
def test_what_no_element_can_hold_is_refused(text: str, element: str, said: str) -> None:
    with pytest.raises(FillError, match=said):
        fill_of(text, ELEMENTS[element])


def test_an_input_is_not_filled() -> None:
    with pytest.raises(ClaimError, match="an input holds what the case says"):
        kernel(ATOMIC_SUM.replace("f32[rows, cols] -> x", "f32[rows, cols] = 0 -> x"))


def test_an_array_is_shown_as_it_is_written() -> None:
    assert str(kernel(MAXIMUM).arrays["y"]) == "f32[rows] = -inf <- y"
