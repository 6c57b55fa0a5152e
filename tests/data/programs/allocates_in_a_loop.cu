// Scratch memory that is asked for and given back in every round, more often than the device remembers arrays.
// bug: out-of-bounds
#include <cstdio>

__global__ void fill(float *scratch, int n) {
  if (threadIdx.x < n) scratch[threadIdx.x] = threadIdx.x;
}
__global__ void add(float *sum, const float *scratch, int n) {
  for (int i = 0; i < n; i++) *sum += scratch[i];
}

int main() {
  float *sum, result;
  cudaMalloc(&sum, sizeof(float));
  cudaMemset(sum, 0, sizeof(float));
  for (int round = 0; round < 1200; round++) {
    float *scratch;
    int n = 8 + round % 8;
    if (cudaMalloc(&scratch, n * sizeof(float)) != cudaSuccess) return 1;
    fill<<<1, 32>>>(scratch, n);
#ifdef BUG
    if (round == 1150) n++;
#endif
    add<<<1, 1>>>(sum, scratch, n);
    cudaFree(scratch);
  }
  cudaMemcpy(&result, sum, sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", result);
}
