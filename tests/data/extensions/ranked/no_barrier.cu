// op: row_sum
// rank: UNDEFINED at 8x128: race between warps; right in forward; wrong in reverse
//
// Wrong on purpose: one thread adds up what the others may not have written yet.
#include <torch/extension.h>
__global__ void sums(float *y, const float *x, int cols) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 128) sum += x[blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  if (threadIdx.x == 127) {
    float all = 0;
    for (int i = 0; i < 128; i++) all += part[i];
    y[blockIdx.x] = all;
  }
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  sums<<<x.size(0), 128>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
