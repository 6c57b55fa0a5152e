// op: gelu
// GELU over all elements as one row, computed in float also for at::Half.
#include <torch/extension.h>

template <typename scalar_t>
__global__ void gelu(scalar_t *y, const scalar_t *x, int64_t count) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
    const float value = static_cast<float>(x[i]);
    y[i] = static_cast<scalar_t>(value * 0.5f * (1.0f + erff(value * 0.70710678118654752440f)));
  }
}

torch::Tensor gelu_forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "gelu", [&] {
    gelu<scalar_t><<<4, 64>>>(y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), x.numel());
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &gelu_forward); }
