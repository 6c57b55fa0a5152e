// op: row_sum
// rank: NARROW: forward() takes 1x1 and reads x[1]; right wherever cols % 4 == 0. A check would turn this into a refusal
//
// Wrong on purpose: rows are read four numbers at a time.
#include <torch/extension.h>
__global__ void sums(float *y, const float *x, int cols) {
  const float *row = x + blockIdx.x * cols;
  float sum = 0;
  for (int i = 0; i < cols; i += 4) sum += row[i] + row[i + 1] + row[i + 2] + row[i + 3];
  y[blockIdx.x] = sum;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  sums<<<x.size(0), 1>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
