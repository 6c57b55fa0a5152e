// Four elements a thread by float4, and the rest one by one.
// bug: misaligned
#include <cstdio>
#include <vector>

__global__ void scale(float *data, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 four = reinterpret_cast<float4 *>(data)[i];
    four.x *= by, four.y *= by, four.z *= by, four.w *= by;
    reinterpret_cast<float4 *>(data)[i] = four;
  }
  if (i < n % 4) data[n / 4 * 4 + i] *= by;
}

int main() {
  const int n = 103;
  std::vector<float> host(n, 2.0f);
  float *data;
  cudaMalloc(&data, (n + 1) * sizeof(float));
#ifdef BUG
  float *first = data + 1;
#else
  float *first = data;
#endif
  cudaMemcpy(first, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<1, 64>>>(first, 3.0f, n);
  cudaMemcpy(host.data(), first, n * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (float value : host) sum += value;
  printf("%g\n", sum);
  cudaFree(data);
}
