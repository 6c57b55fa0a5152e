// Scratch memory of a helper function, used by two launches.
// bug: use-after-free
#include <cstdio>

__global__ void squares(float *out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = float(threadIdx.x * threadIdx.x);
}
__global__ void sum(const float *in, float *out, int n) {
  float all = 0;
  for (int i = 0; i < n; i++) all += in[i];
  *out = all;
}

static float *made(int n) {
  float *scratch;
  cudaMalloc(&scratch, n * sizeof(float));
  squares<<<1, 64>>>(scratch, n);
#ifdef BUG
  cudaFree(scratch);
#endif
  return scratch;
}

int main() {
  float *out, result;
  cudaMalloc(&out, sizeof(float));
  float *scratch = made(50);
  sum<<<1, 1>>>(scratch, out, 50);
  cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", result);
#ifndef BUG
  cudaFree(scratch);
#endif
}
