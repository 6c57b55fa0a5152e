// Results are copied back before the host uses them.
// bug: illegal-address
#include <cstdio>

__global__ void fill(int *data) { data[threadIdx.x] = 7 * threadIdx.x; }

static int total(const int *data, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += data[i];
  return sum;
}

int main() {
  int *data, host[32];
  cudaMalloc(&data, sizeof host);
  fill<<<1, 32>>>(data);
#ifdef BUG
  printf("%d\n", total(data, 32));
#else
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d\n", total(host, 32));
#endif
}
