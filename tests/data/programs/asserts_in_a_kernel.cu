// Indices that a kernel asserts to be in range.
// bug: trap
#include <cassert>
#include <cstdio>

__global__ void gather(const int *index, const float *from, float *to, int n, int size) {
  int i = threadIdx.x;
  if (i >= n) return;
  assert(index[i] >= 0 && index[i] < size);
  to[i] = from[index[i]];
}

int main() {
  int index[8] = {3, 1, 4, 1, 5, 0, 2, 6}, *d_index;
#ifdef BUG
  index[4] = 9;
#endif
  float from[7] = {0, 10, 20, 30, 40, 50, 60}, to[8], *d_from, *d_to;
  cudaMalloc(&d_index, sizeof index), cudaMalloc(&d_from, sizeof from), cudaMalloc(&d_to, sizeof to);
  cudaMemcpy(d_index, index, sizeof index, cudaMemcpyHostToDevice);
  cudaMemcpy(d_from, from, sizeof from, cudaMemcpyHostToDevice);
  gather<<<1, 32>>>(d_index, d_from, d_to, 8, 7);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(to, d_to, sizeof to, cudaMemcpyDeviceToHost);
  for (float value : to) printf("%g ", value);
  printf("\n");
}
