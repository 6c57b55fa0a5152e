// Blocks leave their sums and take a ticket; the block with the last one adds up the sums.
#include <cstdio>
#include <cstdlib>
__global__ void adds_up(const float *x, float *sums, unsigned *tickets, float *total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int i = 0; i < blockDim.x; i++) sum += x[blockIdx.x * blockDim.x + i];
    sums[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x) return;
  float sum = 0.0f;
  for (int i = 0; i < gridDim.x; i++) sum += sums[i];
  *total = sum;
}
int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 1 << 16, threads = 32;
  float *x, *sums, *total, sum = 1.0f;
  unsigned *tickets;
  cudaMalloc(&x, sizeof(float) * blocks * threads);
  cudaMalloc(&sums, sizeof(float) * blocks);
  cudaMalloc(&total, sizeof(float));
  cudaMalloc(&tickets, sizeof(unsigned));
  cudaMemset(x, 0, sizeof(float) * blocks * threads);
  cudaMemset(tickets, 0, sizeof(unsigned));
  adds_up<<<blocks, threads>>>(x, sums, tickets, total);
  cudaMemcpy(&sum, total, sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", sum);
}
