# /// kernel
# op     = "gelu"
# arrays = { x = "f16[rows, cols] -> x", y = "f16[rows, cols] <- y" }
# axes   = { rows = "1..64", cols = "1..512" }
# ///
import torch
from torch.utils.cpp_extension import load_inline

SRC = """
#include <cuda_fp16.h>
__global__ void gelu(const __half* x, __half* y, int n, float k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = __half2float(x[i]);
    y[i] = __float2half(0.5f * v * (1.0f + erff(v * k)));
  }
}
at::Tensor gelu_half(const at::Tensor& x, float k) {
  auto y = torch::empty_like(x);
  gelu<<<4, 128>>>(reinterpret_cast<const __half*>(x.data_ptr<at::Half>()), reinterpret_cast<__half*>(y.data_ptr<at::Half>()), x.numel(), k);
  return y;
}
"""
m = load_inline("g16", "at::Tensor gelu_half(const at::Tensor& x, float k);", SRC, ["gelu_half"])


def forward(x):
    return m.gelu_half(x, 0.7071067811865476)
