"""CUDA beside a reference: the numbers that the reference gets are those of the kernels."""

import tomllib
from pathlib import Path

import pytest

from kfuzz.measure.roundings.infer import Unclaimed, kernel_with, numbers_by_name

pytestmark = pytest.mark.slow

REFERENCE = """
import torch
def normalise(x, w, epsilon):
    return x / (x.pow(2).mean(-1, keepdim=True) + epsilon).sqrt() * w
def get_inputs():
    return [torch.randn(5, 24), torch.rand(24), 0.01]
"""
SQUARES = """
__global__ void squares(const float *x, float *s, int cols) {
  float sum = 0;
  for (int c = 0; c < cols; c++) sum += x[blockIdx.x * cols + c] * x[blockIdx.x * cols + c];
  s[blockIdx.x] = sum / cols;
}
__global__ void scale(const float *x, const float *w, const float *s, float *y, int cols, float EPS) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[blockIdx.x * cols + c] = x[blockIdx.x * cols + c] * rsqrtf(s[blockIdx.x] + EPS) * w[c];
}
void normalise(const float *x, const float *w, float *y, int rows, int cols, float eps) {
  float *s;
  cudaMalloc(&s, rows * sizeof(float));
  squares<<<rows, 1>>>(x, s, cols);
  scale<<<rows, 128>>>(x, w, s, y, cols, eps);
  cudaFree(s);
}
"""
ALONE = """
__global__ void normalise(const float *x, const float *w, float *y, int rows, int cols, float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; c++) sum += x[row * cols + c] * x[row * cols + c];
  for (int c = 0; c < cols; c++) y[row * cols + c] = x[row * cols + c] * rsqrtf(sum / cols + eps) * w[c];
}
"""


@pytest.mark.parametrize(("text", "arguments"), [
    (ALONE, ("x", "w", "y", "rows", "cols", "0.01")), (SQUARES, ("x", "w", "y", "x_0", "x_1", "0.01")),
])  # fmt: skip
def test_a_kernel_gets_the_number_that_its_reference_gets(
    text: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    """Both were refused: 'eps' is no array, no size and no literal; 2 kernels; write a claim."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(REFERENCE)
    (tmp_path / "mine.cu").write_text(text)
    kernel = kernel_with(
        tmp_path / "mine.cu", Unclaimed(op="reference", reference=Path(f"{tmp_path}/problem.py:normalise"))
    )
    claim = tomllib.loads(kernel.front.toml)
    steps = [*claim.get("launch", ()), claim.get("host", {"args": ()})]
    assert arguments in [tuple(one["args"]) for one in steps]


@pytest.mark.parametrize(("numbers", "expected"), [
    ({"eps": "1e-6"}, {"eps": ("1e-6",)}),
    ({"epsilon": "0.5", "scale": "2.0"}, {"eps": ("0.5",)}),
    ({"delta": "0.5"}, {"eps": ("0.5",)}),
    ({"delta": "0.5", "cols": "8"}, {"eps": ("0.5",), "cols": ("8",)}),
    ({"delta": "0.5", "gamma": "0.25"}, {}),
    ({"n": "5"}, {}),
])  # fmt: skip
def test_numbers_are_found_by_name_or_as_the_only_fraction(
    numbers: dict[str, str], expected: dict[str, tuple[str, ...]]
) -> None:
    assert numbers_by_name(ALONE, numbers) == expected
