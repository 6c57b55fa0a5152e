// class: the shim is not torch
// op: transpose
// bug: numeric
//
// torch lays out empty_like(x.t()) as x.t() is laid out: a kernel that goes through both from beginning to end copies each
// number to where it belongs. With the bug the result is asked for by sizes, and comes in the order of rows.
#include <torch/extension.h>

__global__ void copies(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

torch::Tensor forward(torch::Tensor x) {
  auto turned = x.t();
#ifdef BUG
  auto y = torch::empty(turned.sizes(), turned.options());
#else
  auto y = torch::empty_like(turned);
#endif
  int n = x.numel();
  copies<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), turned.data_ptr<float>(), n);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
