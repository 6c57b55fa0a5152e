// A sum by two launches of one kernel: partial sums of blocks, then their sum.
// bug: race
#include <cstdio>
#include <numeric>
#include <vector>

#define CUDA_CHECK(call)                                                                    \
  do {                                                                                      \
    cudaError_t status = call;                                                              \
    if (status != cudaSuccess) {                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));       \
      return 1;                                                                             \
    }                                                                                       \
  } while (0)

template <unsigned int threads>
__global__ void reduce(const int *in, int *out, unsigned int n) {
  __shared__ int partial[threads];
  unsigned int t = threadIdx.x;
  int sum = 0;
  for (unsigned int i = blockIdx.x * threads + t; i < n; i += gridDim.x * threads) sum += in[i];
  partial[t] = sum;
  __syncthreads();
  for (unsigned int half = threads / 2; half > 0; half >>= 1) {
    if (t < half) partial[t] += partial[t + half];
#ifndef BUG
    __syncthreads();
#endif
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

int main() {
  const unsigned int n = 5000, blocks = 6;
  std::vector<int> host(n);
  std::iota(host.begin(), host.end(), -100);
  int *in, *partial, *out, result = 0;
  CUDA_CHECK(cudaMalloc((void **)&in, n * sizeof(int)));
  CUDA_CHECK(cudaMalloc((void **)&partial, blocks * sizeof(int)));
  CUDA_CHECK(cudaMalloc((void **)&out, sizeof(int)));
  CUDA_CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  reduce<128><<<blocks, 128>>>(in, partial, n);
  CUDA_CHECK(cudaGetLastError());
  reduce<128><<<1, 128>>>(partial, out, blocks);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost));
  printf("%d, should be %d\n", result, std::accumulate(host.begin(), host.end(), 0));
  return 0;
}
