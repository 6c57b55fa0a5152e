import torch
from torch.utils.cpp_extension import load_inline

SRC = """
#include <torch/extension.h>
__global__ void rm(const float* x, float* y, int rows, int cols, int sr, int sc) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY;
  for (int c = 0; c < cols; c++) m = fmaxf(m, x[r * sr + c * sc]);
  y[r] = m;
}
void row_max(torch::Tensor x, torch::Tensor out, c10::optional<torch::Tensor> bias, int64_t threads = 64) {
  TORCH_CHECK(!bias.has_value());
  rm<<<(x.size(0) + threads - 1) / threads, threads>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.size(0), x.size(1), x.stride(0), x.stride(1));
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("row_max", &row_max, py::arg("x"), py::arg("out"), py::arg("bias") = py::none(), py::arg("threads") = 64); }
"""
m = load_inline("rm", "", SRC)


def forward(x):
    xt = x.t().contiguous().t()
    out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    m.row_max(x=xt, out=out, threads=32)
    return out
