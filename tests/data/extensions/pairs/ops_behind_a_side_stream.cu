// class: torch's own operations
// op: row_sum
// bug: race
//
// Halves of every row are added up on two streams of torch's pool, and their sums by torch; with the bug it waits for one
// of the two alone.
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

__global__ void add_part(float *y, const float *x, int rows, int cols, int from, int to) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = from; row < rows && i < to; i++) sum += x[row * cols + i];
  if (row < rows) y[row] = sum;
}

torch::Tensor forward(torch::Tensor x) {
  x = x.contiguous();
  int rows = x.size(0), cols = x.size(1), half = cols / 2, blocks = (rows + 63) / 64;
  auto left = torch::empty({rows}, x.options()), right = torch::empty({rows}, x.options());
  auto one = at::cuda::getStreamFromPool(), other = at::cuda::getStreamFromPool();
  add_part<<<blocks, 64, 0, one>>>(left.data_ptr<float>(), x.data_ptr<float>(), rows, cols, 0, half);
  add_part<<<blocks, 64, 0, other.stream()>>>(right.data_ptr<float>(), x.data_ptr<float>(), rows, cols, half, cols);
  one.synchronize();
#ifndef BUG
  cudaStreamSynchronize(other);
#endif
  return left + right;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
