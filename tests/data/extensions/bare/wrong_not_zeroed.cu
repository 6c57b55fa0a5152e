// op: row_sum
// bug: uninitialised numeric special unwritten
// Wrong on purpose: the result that is added to was not cleared.
#include <torch/extension.h>

__global__ void add_parts(float *y, const float *x, int cols) {
  float own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cols; i += gridDim.x * blockDim.x) own += x[blockIdx.y * cols + i];
  for (int step = 16; step; step >>= 1) own += __shfl_down_sync(0xffffffff, own, step);
  if (threadIdx.x % 32 == 0) atomicAdd(y + blockIdx.y, own);
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  add_parts<<<dim3(3, x.size(0)), 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
