#include "sums.cuh"

namespace {
__global__ void times(float *data, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}
}  // namespace

void scale(float *data, float by, int n) { times<<<(n + 127) / 128, 128>>>(data, by, n); }
