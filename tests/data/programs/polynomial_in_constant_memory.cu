// A polynomial whose coefficients lie in constant memory.
// bug: illegal-address
#include <cstdio>

__constant__ float coefficients[4];

__device__ float horner(float x) {
  float value = 0;
  for (int i = 3; i >= 0; i--) value = value * x + coefficients[i];
  return value;
}

__global__ void evaluate(float *out, int n) {
  int i = threadIdx.x;
#ifdef BUG
  if (i == 0) *const_cast<float *>(&coefficients[0]) += 1;
#endif
  if (i < n) out[i] = horner(0.5f * i);
}

int main() {
  float host[4] = {1, 2, 3, 4}, out[32], *device;
  cudaMemcpyToSymbol(coefficients, host, sizeof host);
  cudaMalloc(&device, sizeof out);
  evaluate<<<1, 32>>>(device, 32);
  cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
  for (float value : out) printf("%g ", value);
  printf("\n");
}
