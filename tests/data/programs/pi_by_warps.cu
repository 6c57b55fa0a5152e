// Points in a circle, counted by warps with shuffles.
// bug: inactive-lane divergent-barrier
#include <cstdio>

__device__ unsigned int next(unsigned int &state) { return state = state * 1664525u + 1013904223u; }

__global__ void count(unsigned int *inside, int points) {
  unsigned int state = 12345u + 99u * (blockIdx.x * blockDim.x + threadIdx.x);
  int own = 0;
  for (int i = 0; i < points; i++) {
    float x = (next(state) >> 8) / 16777216.0f, y = (next(state) >> 8) / 16777216.0f;
    own += x * x + y * y < 1;
  }
#ifdef BUG
  if (threadIdx.x % 32 < 20)
#endif
    for (int step = 16; step; step /= 2) own += __shfl_down_sync(0xffffffff, own, step);
  if (threadIdx.x % 32 == 0) atomicAdd(inside, own);
}

int main() {
  const int blocks = 2, threads = 64, points = 20;
  unsigned int *device, inside = 0;
  cudaMalloc(&device, sizeof inside);
  cudaMemset(device, 0, sizeof inside);
  count<<<blocks, threads>>>(device, points);
  cudaMemcpy(&inside, device, sizeof inside, cudaMemcpyDeviceToHost);
  printf("pi is about %.2f\n", 4.0 * inside / (blocks * threads * points));
}
