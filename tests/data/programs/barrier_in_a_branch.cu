// Rows whose mean is taken away; blocks are larger than rows.
// bug: divergent-barrier
#include <cstdio>

__global__ void centre(float *data, int cols) {
  __shared__ float sum;
  float *row = data + blockIdx.x * cols;
  if (threadIdx.x == 0) sum = 0;
#ifdef BUG
  if (threadIdx.x < cols) {
    __syncthreads();
    atomicAdd(&sum, row[threadIdx.x]);
  }
  __syncthreads();
#else
  __syncthreads();
  if (threadIdx.x < cols) atomicAdd(&sum, row[threadIdx.x]);
  __syncthreads();
#endif
  if (threadIdx.x < cols) row[threadIdx.x] -= sum / cols;
}

int main() {
  const int rows = 3, cols = 40;
  float host[rows * cols], *data;
  for (int i = 0; i < rows * cols; i++) host[i] = float(i % 8);
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  centre<<<rows, 64>>>(data, cols);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  printf("%g %g\n", host[0], host[7]);
}
