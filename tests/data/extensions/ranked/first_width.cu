// op: row_sum
// rank: BROKEN at 8x128, the shape it was written for
//
// Wrong on purpose: it keeps the length of the rows of its first call.
#include <torch/extension.h>
__global__ void sums(float *y, const float *x, int cols, int first) {
  const float *row = x + blockIdx.x * cols;
  float sum = 0;
  for (int i = 0; i < min(cols, first); i++) sum += row[i];
  y[blockIdx.x] = sum;
}
torch::Tensor forward(torch::Tensor x) {
  static int first = x.size(1);
  auto y = torch::empty({x.size(0)}, x.options());
  sums<<<x.size(0), 1>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1), first);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
