// A histogram of 256 bins by atomics in global memory.
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void histogram(int n, const unsigned *x, unsigned *bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] & 255], 1u);
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 24;
  std::vector<unsigned> x(n), out(256);
  for (int i = 0; i < n; i++) x[i] = i * 2654435761u >> 16;
  unsigned *dx, *dy;
  cudaMalloc(&dx, n * sizeof(unsigned)); cudaMalloc(&dy, 256 * sizeof(unsigned));
  cudaMemset(dy, 0, 1024);
  cudaMemcpy(dx, x.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  histogram<<<(n + 255) / 256, 256>>>(n, dx, dy);
  cudaMemcpy(out.data(), dy, 1024, cudaMemcpyDeviceToHost);
  printf("%u %u\n", out[0], out[255]);
}
