// y = a x + y in managed memory, with a grid that does not divide n.
// bug: out-of-bounds
// arguments: 1000
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef BUG
  if (i >= n) return;
#endif
  y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; i++) x[i] = 1.0f, y[i] = 2.0f;
  saxpy<<<(n + 255) / 256, 256>>>(n, 3.0f, x, y);
  cudaDeviceSynchronize();
  float worst = 0;
  for (int i = 0; i < n; i++) worst = y[i] - 5.0f > worst ? y[i] - 5.0f : worst;
  printf("largest error %g\n", worst);
  cudaFree(x);
  cudaFree(y);
  return worst != 0;
}
