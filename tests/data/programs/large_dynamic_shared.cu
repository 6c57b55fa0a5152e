// More than 48 KB of dynamic shared memory, for which the kernel has to be given leave.
// bug: launch-refused
#include <cstdio>
#include <cstdlib>

extern __shared__ float buffer[];

__global__ void turn_round(float *data, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = buffer[n - 1 - i];
}

int main() {
  const int n = 15000;
  float *host = (float *)malloc(n * sizeof(float)), *data;
  for (int i = 0; i < n; i++) host[i] = i;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemcpy(data, host, n * sizeof(float), cudaMemcpyHostToDevice);
#ifndef BUG
  cudaFuncSetAttribute(turn_round, cudaFuncAttributeMaxDynamicSharedMemorySize, n * sizeof(float));
#endif
  turn_round<<<1, 256, n * sizeof(float)>>>(data, n);
  cudaMemcpy(host, data, n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g %g\n", host[0], host[n - 1]);
  free(host);
  cudaFree(data);
}
