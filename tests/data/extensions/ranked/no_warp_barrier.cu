// op: row_sum
// rank: UNDEFINED at 8x128: race between lanes of one warp, which GPUs often hide; right in forward; wrong in reverse
//
// Wrong on purpose: the same within one warp.
#include <torch/extension.h>
__global__ void sums(float *y, const float *x, int cols) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += x[blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  if (threadIdx.x == 31) {
    float all = 0;
    for (int i = 0; i < 32; i++) all += part[i];
    y[blockIdx.x] = all;
  }
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  sums<<<x.size(0), 32>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
