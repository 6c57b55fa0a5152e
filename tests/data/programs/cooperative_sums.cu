// Block sums, and then their sum by one block, in one cooperative launch of as many blocks as are resident at once; the
// same once more by cudaLaunchKernel and cudaLaunchKernelEx in two launches. With the bug no grid.sync() lies between.
// bug: race uninitialised
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                                     \
  do {                                                                                                  \
    cudaError_t error = (call);                                                                         \
    if (error != cudaSuccess) {                                                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                    \
      exit(1);                                                                                          \
    }                                                                                                   \
  } while (0)

template <int threads>
__global__ void sums(const float *x, float *part, float *total, int n) {
  __shared__ float shared[threads];
  float sum = 0;
  for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) sum += x[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = threads / 2; half; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) part[blockIdx.x] = shared[0];
#ifndef BUG
  cg::this_grid().sync();
#endif
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *total = 0;
    for (int b = 0; b < gridDim.x; b++) *total += part[b];
  }
}

__global__ void add(float *x, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}

int main() {
  int n = 5000, device = 0, can = 0, each = 0, multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device));
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, sums<128>, 128, 0));
  if (!can) return 2;
  std::vector<float> x(n, 1.0f);
  float *d_x, *part, *total, sum;
  int blocks = each * multiprocessors < 16 ? each * multiprocessors : 16;
  CHECK(cudaMalloc(&d_x, n * sizeof(float)));
  CHECK(cudaMalloc(&part, blocks * sizeof(float)));
  CHECK(cudaMalloc(&total, sizeof(float)));
  CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  float by = 1.0f;
  void *added[] = {&d_x, &n, &by};
  CHECK(cudaLaunchKernel((void *)add, dim3((n + 127) / 128), dim3(128), added, 0, 0));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((n + 127) / 128);
  config.blockDim = dim3(128);
  CHECK(cudaLaunchKernelEx(&config, add, d_x, n, -1.0f));
  void *args[] = {&d_x, &part, &total, &n};
  CHECK(cudaLaunchCooperativeKernel((void *)sums<128>, blocks, 128, args));
  CHECK(cudaMemcpy(&sum, total, sizeof(float), cudaMemcpyDeviceToHost));
  printf("sum %g\n", sum);
  cudaFree(d_x);
  cudaFree(part);
  cudaFree(total);
  return sum != n;
}
