// A sparse matrix times a vector, a warp a row; one row is empty.
// bug: uninitialised
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void multiply(const int *start, const int *cols, const float *values, const float *x, float *y, int rows) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int row = blockIdx.x * (blockDim.x / 32) + warp.meta_group_rank();
  if (row >= rows) return;
#ifdef BUG
  if (start[row] == start[row + 1]) return;
#endif
  float sum = 0;
  for (int i = start[row] + warp.thread_rank(); i < start[row + 1]; i += 32) sum += values[i] * x[cols[i]];
  for (int step = 16; step; step /= 2) sum += warp.shfl_down(sum, step);
  if (warp.thread_rank() == 0) y[row] = sum;
}

template <class T>
T *on_device(const std::vector<T> &host) {
  T *device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

int main() {
  std::vector<int> start{0, 2, 2, 5, 6}, cols{0, 3, 1, 2, 3, 0};
  std::vector<float> values{1, 2, 3, 4, 5, 6}, x{1, 10, 100, 1000}, y(4);
  float *dy;
  cudaMalloc(&dy, y.size() * sizeof(float));
  multiply<<<2, 96>>>(on_device(start), on_device(cols), on_device(values), on_device(x), dy, 4);
  cudaMemcpy(y.data(), dy, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (float value : y) printf("%g\n", value);
}
