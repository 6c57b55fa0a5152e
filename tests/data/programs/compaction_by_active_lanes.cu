// Keeps what is positive: lanes that come together take their places by one atomic. With the bug, without any.
// bug: race
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>
using namespace cooperative_groups;
__device__ int place_of(int *count) {
  auto g = coalesced_threads();
  int first;
  if (g.thread_rank() == 0) first = atomicAdd(count, g.size());
  return g.shfl(first, 0) + g.thread_rank();
}
__global__ void keep_positive(int *dst, int *nres, const int *src, int n) {
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  if (id >= n) return;
#ifdef BUG
  if (src[id] > 0) dst[(*nres)++] = src[id];
#else
  if (src[id] > 0) dst[place_of(nres)] = src[id];
#endif
}
int main() {
  const int n = 5000;
  std::vector<int> a(n);
  for (int i = 0; i < n; i++) a[i] = (i * 37) % 11 - 5;
  int *src, *dst, *count;
  cudaMallocManaged(&src, n * sizeof(int)); cudaMallocManaged(&dst, n * sizeof(int)); cudaMallocManaged(&count, sizeof(int));
  std::copy(a.begin(), a.end(), src);
  *count = 0;
  cudaMemPrefetchAsync(src, n * sizeof(int), 0, 0);
  keep_positive<<<(n + 255) / 256, 256>>>(dst, count, src, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  int want = 0; long sum = 0, got = 0;
  for (int one : a) if (one > 0) want++, sum += one;
  for (int i = 0; i < *count; i++) got += dst[i];
  printf("%d %d %ld %ld\n", *count, want, got, sum);
  return *count != want || got != sum;
}
