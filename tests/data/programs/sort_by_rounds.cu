// Odd-even transposition sort: one launch a round, all by the default stream.
// bug: race
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void exchange(int *data, int n, int odd) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + odd;
  if (i + 1 < n && data[i] > data[i + 1]) {
    int first = data[i];
    data[i] = data[i + 1];
    data[i + 1] = first;
  }
}

__global__ void all_rounds(int *data, int n) {  // without a barrier between rounds
  for (int round = 0; round < n; round++) {
    int i = 2 * threadIdx.x + round % 2;
    if (i + 1 < n && data[i] > data[i + 1]) {
      int first = data[i];
      data[i] = data[i + 1];
      data[i + 1] = first;
    }
  }
}

int main() {
  const int n = 90;
  std::vector<int> values(n);
  for (int i = 0; i < n; i++) values[i] = i * 37 % 101;
  int *data;
  cudaMalloc(&data, n * sizeof(int));
  cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
#ifdef BUG
  all_rounds<<<1, 64>>>(data, n);
#else
  for (int round = 0; round < n; round++) exchange<<<2, 32>>>(data, n, round % 2);
#endif
  cudaMemcpy(values.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  printf(std::is_sorted(values.begin(), values.end()) ? "sorted\n" : "not sorted\n");
  cudaFree(data);
}
