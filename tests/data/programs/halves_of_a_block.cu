// Two halves of a block, a producer and a consumer, with barriers of numbers of their own. With the bug, they meet every other time.
// bug: race
#include <cstdio>
#include <vector>
__device__ __forceinline__ void bar_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__global__ void pipe(int *out, const int *in, int turns) {
  __shared__ int buf[2][64];
  int t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int i = 0; i < turns; i++) {
      if (i >= 2) bar_sync(3 + i % 2, 128);
      buf[i % 2][t] = in[i * 64 + t];
#ifdef BUG
      if (i % 2) 
#endif
      bar_arrive(1 + i % 2, 128);
    }
  } else {
    for (int i = 0; i < turns; i++) {
#ifdef BUG
      if (i % 2)
#endif
      bar_sync(1 + i % 2, 128);
      out[i * 64 + t] = buf[i % 2][63 - t] * 2;
      if (i + 2 < turns) bar_arrive(3 + i % 2, 128);
    }
  }
}
int main() {
  int turns = 6;
  std::vector<int> a(turns * 64), b(turns * 64);
  for (int i = 0; i < turns * 64; i++) a[i] = i;
  int *in, *out;
  cudaMalloc(&in, a.size() * 4); cudaMalloc(&out, a.size() * 4);
  cudaMemcpy(in, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
  pipe<<<1, 128>>>(out, in, turns);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(b.data(), out, a.size() * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < turns; i++) for (int t = 0; t < 64; t++) if (b[i * 64 + t] != 2 * a[i * 64 + 63 - t]) return 1;
  puts("ok");
}
