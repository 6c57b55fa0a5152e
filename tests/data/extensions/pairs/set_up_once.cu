// class: what outlives a call
// op: row_sum
// bug: stateful unwritten numeric
//
// A stream, an allowance of shared memory and a constant are set up by the first call and stay; with the bug so does a
// constant that depends on the input's size.
#include <torch/extension.h>

__constant__ int columns;
__global__ void add_columns(float *y, const float *x) {
  extern __shared__ float part[];
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[blockIdx.x * columns + i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 1; i < blockDim.x; i++) sum += part[i];
  y[blockIdx.x] = sum;
}

torch::Tensor forward(torch::Tensor x) {
  static cudaStream_t stream = nullptr;
  static bool is_set_up = false;
  constexpr int shared = 64 << 10;
  int rows = x.size(0), cols = x.size(1);
  if (!is_set_up) {
    cudaStreamCreate(&stream);
    cudaFuncSetAttribute(add_columns, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
#ifdef BUG
    cudaMemcpyToSymbol(columns, &cols, sizeof cols);
#endif
    is_set_up = true;
  }
#ifndef BUG
  cudaMemcpyToSymbol(columns, &cols, sizeof cols);
#endif
  auto y = torch::empty({rows}, x.options());
  add_columns<<<rows, 64, shared, stream>>>(y.data_ptr<float>(), x.data_ptr<float>());
  cudaStreamSynchronize(stream);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
