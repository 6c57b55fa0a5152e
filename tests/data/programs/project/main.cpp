#include <cuda_runtime.h>

#include <cstdlib>
#include <vector>

void scale(float *data, float by, int n);
float sum_of(const float *data, int n);
extern "C" void show(const char *name, double value);

#ifdef __CUDACC__
#error "no CUDA here: nvcc hands a .cpp to the host's compiler"
#endif

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<float> host(n, 1.5f);
  float *data;
  if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) return 1;
  cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale(data, 2.0f, n);
  show("sum", sum_of(data, n));
  return cudaFree(data) != cudaSuccess;
}
