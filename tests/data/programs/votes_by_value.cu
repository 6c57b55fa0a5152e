// Lanes of one key elect a leader, who adds for all of them. With the bug, plainly.
// bug: race
#include <cstdio>
#include <vector>
__global__ void count(int *bins, const int *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned active = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  int key = keys[i];
  unsigned same = __match_any_sync(active, key);
  int leader = __ffs(same) - 1;
#ifdef BUG
  if ((threadIdx.x & 31) == leader) bins[key] += __popc(same);
#else
  if ((threadIdx.x & 31) == leader) atomicAdd(&bins[key], __popc(same));
#endif
  __shared__ int total[32];
  unsigned sum = __reduce_add_sync(active, 1u);
  if ((threadIdx.x & 31) == 0) total[threadIdx.x / 32] = sum;
}
int main() {
  int n = 1000;
  std::vector<int> k(n), b(16);
  for (int i = 0; i < n; i++) k[i] = i * i % 16;
  int *keys, *bins;
  cudaMalloc(&keys, n * 4); cudaMalloc(&bins, 64);
  cudaMemset(bins, 0, 64);
  cudaMemcpy(keys, k.data(), n * 4, cudaMemcpyHostToDevice);
  count<<<4, 256>>>(bins, keys, n);
  cudaMemcpy(b.data(), bins, 64, cudaMemcpyDeviceToHost);
  int sum = 0; for (int one : b) sum += one;
  printf("%d\n", sum);
  return sum != n;
}
