// class: lanes that never meet
// op: row_sum
// told: inactive-lane
// bug: inactive-lane
//
// Four lanes add up what four warps have, under a mask of 32. Down from lane 0 nothing of the absent ones is ever used:
// a warning. With the bug the sum begins eight lanes away.
#include <torch/extension.h>
#ifdef BUG
#define FIRST 8
#else
#define FIRST 2
#endif

__global__ void row_sums(float *y, const float *x, int cols) {
  __shared__ float part[4];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 128) sum += x[blockIdx.x * cols + i];
  for (int distance = 16; distance > 0; distance >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 4) {
    sum = part[threadIdx.x];
    for (int distance = FIRST; distance > 0; distance >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  row_sums<<<x.size(0), 128>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
