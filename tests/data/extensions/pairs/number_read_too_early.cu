// class: torch's own operations
// op: row_sum
// bug: race
//
// How many columns there are is counted on a stream of the file's own and read by item(), which waits for the current stream
// alone; with the bug nobody waits for the other one.
#include <torch/extension.h>

__global__ void count(int *to, int cols) { *to = cols; }

__global__ void add_rows(float *y, const float *x, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; row < rows && i < cols; i++) sum += x[row * cols + i];
  if (row < rows) y[row] = sum;
}

torch::Tensor forward(torch::Tensor x) {
  x = x.contiguous();
  int rows = x.size(0);
  auto counted = torch::empty({}, x.options().dtype(torch::kInt32));
  cudaStream_t own;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  count<<<1, 1, 0, own>>>(counted.data_ptr<int>(), static_cast<int>(x.size(1)));
#ifndef BUG
  cudaStreamSynchronize(own);
#endif
  int cols = counted.item<int>();
  auto y = torch::empty({rows}, x.options());
  add_rows<<<(rows + 63) / 64, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), rows, cols);
  cudaStreamDestroy(own);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
