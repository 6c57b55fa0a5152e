// class: torch's own operations
// op: row_sum
// bug: race
//
// Within a guard torch's operations are on its stream; a kernel that names no stream is on the default one, which waits for
// nobody here, and they for it: that is the bug.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#ifdef BUG
#define STREAM 0
#else
#define STREAM at::cuda::getCurrentCUDAStream()
#endif

__global__ void add_rows(float *y, const float *x, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int i = 0; i < cols; i++) y[row] += x[row * cols + i];
}

torch::Tensor forward(torch::Tensor x) {
  const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
  x = x.contiguous();
  int rows = x.size(0), cols = x.size(1);
  auto y = torch::empty({rows, 2}, x.options());
  at::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool(true));
  auto sums = y.flatten().narrow(0, 0, rows);
  sums.fill_(0);
  add_rows<<<(rows + 63) / 64, 64, 0, STREAM>>>(sums.data_ptr<float>(), x.data_ptr<float>(), rows, cols);
  auto made = sums.clone();
  guard.current_stream().synchronize();
  return made;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
