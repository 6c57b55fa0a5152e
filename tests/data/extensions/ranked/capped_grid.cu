// op: row_sum
// rank: NARROW: on a GPU with 4 multiprocessors; no error at 8x128 on an H200
//
// Wrong on purpose: the grid has one block for each multiprocessor at most, and no block takes a second row.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void sums(float *y, const float *x, int cols) {
  float sum = 0;
  for (int i = 0; i < cols; i++) sum += x[blockIdx.x * cols + i];
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  int64_t most = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  sums<<<std::min(x.size(0), most), 32>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
