#pragma once

void scale(float *data, float by, int n);
float sum_of(const float *data, int n);
extern "C" void show(const char *name, double value);

template <int threads>
__device__ float block_sum(float own) {
  __shared__ float shared[threads];
  shared[threadIdx.x] = own;
#ifndef BUG
  __syncthreads();
#endif
  for (int half = threads / 2; half; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  return shared[0];
}
