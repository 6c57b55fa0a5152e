// A naive product of two matrices of n x n: a thread an element.
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void matmul(int n, const float *a, const float *b, float *c) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1024;
  std::vector<float> a(n * n, 1.0f), b(n * n, 2.0f), c(n * n);
  float *da, *db, *dc;
  size_t bytes = sizeof(float) * n * n;
  cudaMalloc(&da, bytes); cudaMalloc(&db, bytes); cudaMalloc(&dc, bytes);
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  matmul<<<grid, block>>>(n, da, db, dc);
  cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
  printf("%g %g\n", c[0], c[n * n - 1]);
}
