// class: what outlives a call
// op: row_sum
// bug: stateful
//
// The sums of an input are kept for the next call with the same one; with the bug an input is known by where it lies and
// how large it is, and other values there have the old sums.
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

torch::Tensor forward(torch::Tensor x) {
  static torch::Tensor known, sums;
  int rows = x.size(0), cols = x.size(1);
#ifdef BUG
  bool is_known = known.defined() && known.data_ptr() == x.data_ptr() && known.size(0) == rows && known.size(1) == cols;
#else
  bool is_known = false;
#endif
  if (!is_known) {
    known = x;
    sums = torch::empty({rows}, x.options());
    row_sums<<<rows, 128>>>(sums.data_ptr<float>(), x.data_ptr<float>(), cols);
  }
  return sums.clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
