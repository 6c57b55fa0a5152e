// Wrong on purpose, uninitialised: atomics add to a result that nobody has cleared.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2048", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [host]
// entry = "row_sum_out"
// args  = ["y", "x", "cols"]
// home  = { rows = 16, cols = 256 }
// ///
#include <torch/extension.h>
#include <ATen/cuda/Atomic.cuh>

__global__ void add_up(float *y, const float *x, int cols) {
  for (int i = threadIdx.x; i < cols; i += blockDim.x) gpuAtomicAdd(&y[blockIdx.x], x[blockIdx.x * cols + i]);
}

void row_sum_out(torch::Tensor y, const torch::Tensor x, int64_t cols) {

  add_up<<<x.size(0), 32>>>(y.data_ptr<float>(), x.data_ptr<float>(), static_cast<int>(cols));
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("row_sum_out", &row_sum_out); }
