// op: row_sum
// rank: BROKEN at 8x128, the shape it was written for
//
// Wrong on purpose: the last row is never written.
#include <torch/extension.h>
__global__ void sums(float *y, const float *x, int cols, int rows) {
  int row = blockIdx.x;
  float sum = 0;
  for (int i = 0; i < cols; i++) sum += x[row * cols + i];
  if (threadIdx.x == 0 && row + 1 < rows) y[row] = sum;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  sums<<<x.size(0), 32>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1), x.size(0));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
