// class: what outlives a call
// op: row_sum
// bug: stateful
//
// A workspace that outlives the call is cleared in each; with the bug only where it is made, and sums go on from call to
// call.
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
  if (threadIdx.x == 0) y[blockIdx.x] += part[0];
}

torch::Tensor forward(torch::Tensor x) {
  static torch::Tensor sums;
  int rows = x.size(0), cols = x.size(1);
  if (!sums.defined() || sums.size(0) < rows) sums = torch::zeros({rows}, x.options());
#ifndef BUG
  sums.zero_();
#endif
  row_sums<<<rows, 128>>>(sums.data_ptr<float>(), x.data_ptr<float>(), cols);
  return sums.slice(0, 0, rows).clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
