// class: the shim is not torch
// op: transpose
// bug: numeric
//
// contiguous() brings a view into the order of rows, clone() keeps its strides: with the bug the kernel reads the second as
// if it were the first.
#include <torch/extension.h>

__global__ void copies(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

torch::Tensor forward(torch::Tensor x) {
#ifdef BUG
  auto turned = x.t().clone();
#else
  auto turned = x.t().clone().contiguous();
#endif
  auto y = torch::empty(turned.sizes(), turned.options());
  int n = x.numel();
  copies<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), turned.data_ptr<float>(), n);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
