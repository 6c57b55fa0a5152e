// class: what outlives a call
// op: row_sum
// bug: out-of-bounds wrong-shape
//
// A workspace that outlives the call grows with what it is asked for; with the bug the first call says how large it is.
#include <torch/extension.h>

__global__ void row_sums(float *y, const float *x, int cols) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 128) sum += x[blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  for (int half = 64; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

float *workspace = nullptr;
int64_t room = 0;

torch::Tensor forward(torch::Tensor x) {
  int rows = x.size(0), cols = x.size(1);
#ifdef BUG
  if (!workspace) {
#else
  if (room < rows) {
    cudaFree(workspace);
#endif
    cudaMalloc(&workspace, rows * sizeof(float));
    room = rows;
  }
  row_sums<<<rows, 128>>>(workspace, x.data_ptr<float>(), cols);
  auto y = torch::empty({rows}, x.options());
  cudaMemcpy(y.data_ptr<float>(), workspace, rows * sizeof(float), cudaMemcpyDeviceToDevice);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
