// class: torch's own operations
// op: row_sum
// bug: race
//
// Zeros are filled on the current stream, and added to on a stream of torch's pool, which waits for nobody: an event orders
// the two; with the bug it is missing.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

__global__ void add_rows(float *y, const float *x, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int i = 0; i < cols; i++) y[row] += x[row * cols + i];
}

torch::Tensor forward(torch::Tensor x) {
  x = x.contiguous();
  int rows = x.size(0), cols = x.size(1);
  auto y = torch::zeros({rows}, x.options());
  at::cuda::CUDAStream side = at::cuda::getStreamFromPool(/*isHighPriority=*/false, x.device().index());
  at::cuda::CUDAEvent filled, added;
#ifndef BUG
  filled.record();
  filled.block(side);
#endif
  {
    at::cuda::CUDAStreamGuard guard(side);
    add_rows<<<(rows + 63) / 64, 64, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), x.data_ptr<float>(), rows, cols);
    added.record(side);
  }
  y.record_stream(side);
  added.block(at::cuda::getCurrentCUDAStream());
  return y.clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
