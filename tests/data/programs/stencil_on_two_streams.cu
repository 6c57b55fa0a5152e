// Two halves of a row on streams of their own, which wait for each other by events.
// bug: out-of-bounds
#include <cuda_runtime.h>

#include <iostream>
#include <memory>
#include <vector>

#define CHECK(x) if (cudaError_t e = (x); e != cudaSuccess) { std::cerr << cudaGetErrorName(e) << std::endl; std::exit(1); }

__global__ void smooth(const double *from, double *to, int begin, int end, int n) {
  int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= end) return;
#ifdef BUG
  to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
#else
  to[i] = i == 0 || i == n - 1 ? from[i] : (from[i - 1] + from[i] + from[i + 1]) / 3;
#endif
}

struct Freed {
  void operator()(double *p) const { cudaFree(p); }
};
using Array = std::unique_ptr<double, Freed>;

Array array(int n) {
  double *p;
  CHECK(cudaMalloc(&p, n * sizeof *p));
  return Array(p);
}

int main() {
  const int n = 100, half = n / 2;
  std::vector<double> row(n);
  for (int i = 0; i < n; i++) row[i] = i % 10;
  Array a = array(n), b = array(n);
  CHECK(cudaMemcpy(a.get(), row.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  cudaStream_t streams[2];
  cudaEvent_t done[2];
  for (int s = 0; s < 2; s++) {
    CHECK(cudaStreamCreate(&streams[s]));
    CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
  }
  for (int step = 0; step < 4; step++) {
    for (int s = 0; s < 2; s++) {
      smooth<<<2, 32, 0, streams[s]>>>(a.get(), b.get(), s * half, (s + 1) * half, n);
      CHECK(cudaEventRecord(done[s], streams[s]));
    }
    for (int s = 0; s < 2; s++) CHECK(cudaStreamWaitEvent(streams[s], done[1 - s], 0));
    std::swap(a, b);
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(row.data(), a.get(), n * sizeof(double), cudaMemcpyDeviceToHost));
  std::cout << row[0] << ' ' << row[half] << ' ' << row[n - 1] << std::endl;
  for (int s = 0; s < 2; s++) cudaStreamDestroy(streams[s]), cudaEventDestroy(done[s]);
}
