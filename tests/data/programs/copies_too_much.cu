// Arrays of two lengths, copied to and fro.
// bug: out-of-bounds
#include <cstdio>
#include <vector>

int main() {
  std::vector<float> large(100, 1.0f);
  float *device;
  cudaMalloc(&device, 60 * sizeof(float));
#ifdef BUG
  cudaMemcpy(device, large.data(), 100 * sizeof(float), cudaMemcpyHostToDevice);
#else
  cudaMemcpy(device, large.data(), 60 * sizeof(float), cudaMemcpyHostToDevice);
#endif
  cudaMemset(device, 0, 30 * sizeof(float));
  cudaMemcpy(large.data(), device, 60 * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (float value : large) sum += value;
  printf("%g\n", sum);
}
