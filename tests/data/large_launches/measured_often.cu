// Launches a kernel often, to measure its time, and clears another array each time. "adds": each launch changes memory.
// "copies": the host changes its input half way. "pinned": some memory is the host's, too.
#include <cstdio>
#include <cstring>
#include <vector>
constexpr int n = 1 << 14, times = 400;

__global__ void double_all(float *y, const float *x, bool adds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = adds ? y[i] + x[i] : 2 * x[i];
}

int main(int argc, char **argv) {
  bool adds = argc > 1 && !strcmp(argv[1], "adds"), copies = argc > 1 && !strcmp(argv[1], "copies");
  std::vector<float> mine(n, 1.0f);
  float *x, *y, *cache, *pinned;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMalloc(&cache, n);
  cudaMemcpy(x, mine.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(float));
  if (argc > 1 && !strcmp(argv[1], "pinned")) cudaMallocHost(&pinned, sizeof(float));
  for (int i = 0; i < times; i++) {
    cudaMemset(cache, 0, n);
    if (copies && i == times / 2) {
      mine[n - 1] = 3;
      cudaMemcpy(x, mine.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    }
    double_all<<<n / 256, 256>>>(y, x, adds);
  }
  cudaMemcpy(mine.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g %g\n", mine[0], mine[n - 1]);
}
