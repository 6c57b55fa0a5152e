// op: row_sum
// bug: out-of-bounds
// told: part\[\d+\]; part has \d+ floats? \(torch::empty, \S+:22\)
//
// Wrong on purpose: partial sums of two halves of each row, in an array that has room for one half of each.
#include <torch/extension.h>

__global__ void halves(float *part, const float *x, int cols) {
  const int middle = cols / 2, first = threadIdx.x ? middle : 0, end = threadIdx.x ? cols : middle;
  float sum = 0;
  for (int i = first; i < end; i++) sum += x[blockIdx.x * cols + i];
  part[2 * blockIdx.x + threadIdx.x] = sum;
}

__global__ void joined(float *y, const float *part, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) y[row] = part[2 * row] + part[2 * row + 1];
}

torch::Tensor forward(torch::Tensor x) {
  const int rows = x.size(0), cols = x.size(1);
  auto part = torch::empty({rows}, x.options());
  auto y = torch::empty({rows}, x.options());
  halves<<<rows, 2>>>(part.data_ptr<float>(), x.data_ptr<float>(), cols);
  joined<<<(rows + 63) / 64, 64>>>(y.data_ptr<float>(), part.data_ptr<float>(), rows);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
