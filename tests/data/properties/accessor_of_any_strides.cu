// Row sums through a packed accessor, which knows the strides.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..512", cols = "1..1024" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// host   = { entry = "forward", strides = "any" }
// ///
#include <torch/extension.h>

__global__ void sums(float *y, const torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> x) {
  float sum = 0;
  for (int i = 0; i < x.size(1); i++) sum += x[blockIdx.x][i];
  y[blockIdx.x] = sum;
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  sums<<<x.size(0), 1>>>(y.data_ptr<float>(), x.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "forward"); }
