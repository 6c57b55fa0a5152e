// An exclusive prefix sum over many blocks: sums of blocks, their scan, and their addition.
// bug: uninitialised
#include <cstdio>
#include <cstdlib>
#include <vector>

const int block = 64;

__global__ void scan_blocks(int *data, int *sums, int n) {
  __shared__ int shared[block];
  int i = blockIdx.x * block + threadIdx.x, own = i < n ? data[i] : 0;
  shared[threadIdx.x] = own;
  for (int step = 1; step < block; step *= 2) {
    __syncthreads();
    int before = threadIdx.x >= step ? shared[threadIdx.x - step] : 0;
    __syncthreads();
    shared[threadIdx.x] += before;
  }
  if (i < n) data[i] = shared[threadIdx.x] - own;
#ifdef BUG
  if (threadIdx.x == block - 1 && blockIdx.x > 0) sums[blockIdx.x] = shared[threadIdx.x];
#else
  if (threadIdx.x == block - 1) sums[blockIdx.x] = shared[threadIdx.x];
#endif
}

__global__ void scan_sums(int *sums, int count) {
  int before = 0;
  for (int i = 0; i < count; i++) {
    int own = sums[i];
    sums[i] = before;
    before += own;
  }
}

__global__ void add_sums(int *data, const int *sums, int n) {
  int i = blockIdx.x * block + threadIdx.x;
  if (i < n) data[i] += sums[blockIdx.x];
}

int main(int argc, char *argv[]) {
  int n = argc > 1 ? std::atoi(argv[1]) : 300, blocks = (n + block - 1) / block;
  std::vector<int> values(n, 2);
  int *data = nullptr, *sums = nullptr;
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan_blocks<<<blocks, block>>>(data, sums, n);
  scan_sums<<<1, 1>>>(sums, blocks);
  add_sums<<<blocks, block>>>(data, sums, n);
  cudaMemcpy(values.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d\n", values[0], values[n / 2], values[n - 1]);
  cudaFree(data);
  cudaFree(sums);
}
