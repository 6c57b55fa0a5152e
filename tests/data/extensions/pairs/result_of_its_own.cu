// class: what outlives a call
// op: row_sum
// bug: stateful
//
// Each call has a result of its own; with the bug all have one, and what an earlier call has returned becomes what the last
// one returns.
#include <torch/extension.h>

__global__ void row_sums(float *y, const float *x, int cols) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 128) sum += x[blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  for (int half = 64; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

torch::Tensor forward(torch::Tensor x) {
#ifdef BUG
  static
#endif
  torch::Tensor y;
  int rows = x.size(0), cols = x.size(1);
  if (!y.defined() || y.size(0) != rows) y = torch::empty({rows}, x.options());
  row_sums<<<rows, 128>>>(y.data_ptr<float>(), x.data_ptr<float>(), cols);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
