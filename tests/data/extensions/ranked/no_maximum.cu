// op: softmax
// rank: BROKEN at 8x128 for values that softmax allows
//
// Wrong on purpose: nothing is subtracted, so an exp overflows or all of them are 0.
#include <torch/extension.h>
__global__ void soft(float *y, const float *x, int cols) {
  const float *in = x + blockIdx.x * (long)cols;
  float sum = 0;
  for (int i = 0; i < cols; i++) sum += expf(in[i]);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * (long)cols + i] = expf(in[i]) / sum;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  soft<<<x.size(0), 128>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
