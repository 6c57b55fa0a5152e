// class: races inside one warp
// op: row_sum
// bug: race
//
// A tree over one warp in shared memory, in step by __syncwarp(). With the bug it counts on hardware for that: lanes that
// run one after the other give a wrong sum in any order, and it is the race that has to be named, not the sum.
#include <torch/extension.h>

__global__ void row_sums(float *y, const float *x, int cols) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += x[blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  __syncwarp();
  for (int distance = 16; distance > 0; distance >>= 1) {
    if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
#ifndef BUG
    __syncwarp();
#endif
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  row_sums<<<x.size(0), 32>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
