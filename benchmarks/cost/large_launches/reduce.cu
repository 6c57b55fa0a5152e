// A block adds up 256 numbers in shared memory: ten barriers a thread.
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void reduce(int n, const float *x, float *out) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 24, blocks = (n + 255) / 256;
  std::vector<float> x(n, 1.0f), out(blocks);
  float *dx, *dy;
  cudaMalloc(&dx, n * sizeof(float)); cudaMalloc(&dy, blocks * sizeof(float));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  reduce<<<blocks, 256>>>(n, dx, dy);
  cudaMemcpy(out.data(), dy, blocks * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float one : out) sum += one;
  printf("%g\n", sum);
}
