// class: the shim is not torch
// op: row_sum
// bug: wrong-shape numeric
//
// torch adds up along a dimension that a plain int names; the bug names none, and all of it is added up.
#include <torch/extension.h>

__global__ void copy(float *to, const float *from, int64_t count) {
  int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = from[i];
}

torch::Tensor forward(torch::Tensor x) {
  x = x.contiguous();
  auto copied = torch::empty_like(x);
  copy<<<(x.numel() + 127) / 128, 128>>>(copied.data_ptr<float>(), x.data_ptr<float>(), x.numel());
#ifdef BUG
  return copied.sum();
#else
  int last = 1;
  return torch::sum(copied.unsqueeze(last).sum(1), last);
#endif
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
