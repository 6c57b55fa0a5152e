"""Guesses for quantizers without a claim: types of pointers, groups and floors of the text; what zeros and NaN do."""

from pathlib import Path

import pytest

from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.conventions import conventions_of
from kfuzz.measure.roundings.guess import guess, guessed, op_of
from kfuzz.measure.roundings.guess_host import host_claims
from kfuzz.measure.roundings.guess_kernel import claims, function_of
from kfuzz.measure.roundings.text import with_tables

ROWS = """#include <cstdint>
__global__ void quantize_rows(float* scales, int8_t* out, const float* input, int hidden) {
  __shared__ float most;
  const float* row = input + (int64_t)blockIdx.x * hidden;
  if (threadIdx.x == 0) {
    most = 1e-8f;
    for (int i = 0; i < hidden; i++) most = fmaxf(most, fabsf(row[i]));
  }
  __syncthreads();
  float scale = most / 127.f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x; i < hidden; i += 64) out[(int64_t)blockIdx.x * hidden + i] = (int8_t)rintf(row[i] / scale);
}
"""
GROUPS = """constexpr int GROUP_SIZE = 64;
__global__ void quant(const __half *x, __nv_fp8_e4m3 *y, float *s, int rows, int cols) { roundf(1e-5f); }
"""
TENSORS = """std::vector<at::Tensor> quantize(const at::Tensor &x) {
  auto q = at::empty(x.sizes(), x.options().dtype(at::kFloat8_e4m3fn));
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("quantize", &quantize); }
"""


def test_types_follow_from_pointers_whatever_their_order() -> None:
    first = next(claims("group_quantize", function_of("mine.cu", ROWS), ROWS))
    for array in (
        'scales = "f32[rows, 1] <- scale"',
        'out = "i8[rows, hidden] <- q"',
        'input = "f32[rows, hidden] -> x"',
    ):
        assert array in first
    assert 'scalars = { group = "hidden", eps = 1e-8 }\n' in first


def test_a_group_and_a_floor_are_numbers_of_the_text() -> None:
    every = list(claims("group_quantize", function_of("mine.cu", GROUPS), GROUPS))
    arrays = 'x = "f16[rows, cols] -> x", y = "e4m3[rows, cols] <- q", s = "f32[rows, ceil_div(cols, 64)] <- scale"'
    assert arrays in every[0]
    assert "scalars = { group = 64, eps = 1e-5 }\n" in every[0]
    assert any('scalars = { group = "cols", eps = 0 }\n' in one for one in every)
    assert any("cols = { min = 64, max = 1048576, multiple = 64 }" in one for one in every)
    assert any('round = "away"' in one for one in every)
    assert not any('round = "away"' in one for one in claims("group_quantize", function_of("", ROWS), ROWS))


def test_codes_of_tensors_have_the_type_that_the_text_names() -> None:
    first = next(host_claims("group_quantize", TENSORS))
    assert 'result_q = "e4m3[rows, cols] <- q", result_scale = "f32[rows, 1] <- scale"' in first
    assert 'scalars = { group = "cols", eps = 0 }\n' in first


def test_names_tell_quantizers_from_norms() -> None:
    assert op_of("mine", ROWS) == "group_quantize"
    assert op_of("dequant_norm", "") == "group_dequantize"


@pytest.mark.slow
def test_a_plain_quantizer_without_a_launch_gets_a_claim(tmp_path: Path) -> None:
    kernel = guessed(tmp_path / "mine.cu", ROWS, None).kernel
    assert kernel.op == "group_quantize"
    assert (kernel.launches[0].grid[0].text, kernel.launches[0].block[0].text) == ("rows", "64")


@pytest.mark.soak
def test_a_quantizer_that_does_not_round_is_not_given_a_claim(tmp_path: Path) -> None:
    wrong = ROWS.replace("(int8_t)rintf(row[i] / scale)", "(int8_t)(row[i] / scale)")
    assert wrong != ROWS
    with pytest.raises(ClaimError, match="no guess of how it computes group_quantize is kept"):
        guess(tmp_path / "mine.cu", wrong, "group_quantize")


def without_conventions(name: str) -> Kernel:
    kernel = load(KERNELS / "group_quantize" / f"{name}.cu")
    return with_tables(kernel, {"quantize": {"scale": '"amax / max"', "saturate": '"finite"'}})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key", "word"), [("int8_group_zero_is_one", "zeros", '"one"'), ("e4m3_token_bf16_vec8", "nan", '"group"')]
)
def test_what_zeros_and_nan_do_is_read_off_one_case(name: str, key: str, word: str) -> None:
    *_, last = conventions_of(without_conventions(name))
    assert last[key] == word
    assert last["saturate"] == '"finite"'
