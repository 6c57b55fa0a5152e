// mxfp8 by a PyTorch extension: float8 tensors of codes and of powers of two, the latter by their bytes.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 65536, multiple = 32 } }
// arrays   = { x = "f32[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "e8m0[rows, cols / 32] <- scale" }
// scalars  = { group = 32, eps = 0 }
// accuracy = { divide = "ieee" }
// quantize = { scale = "exponent of amax", apply = "divide", saturate = "finite", zeros = "least" }
// host     = { entry = "quantize" }
// ///

#include <cuda_fp8.h>
#include <torch/extension.h>

__global__ void mx_kernel(const float *x, __nv_fp8_e4m3 *q, uint8_t *scale, int64_t groups) {
  const int64_t group = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (group >= groups) return;
  float amax = 0.0f;
  for (int i = 0; i < 32; ++i) amax = fmaxf(amax, fabsf(x[group * 32 + i]));
  const int code = max(static_cast<int>(__float_as_uint(amax) >> 23) - 8, 0);
  scale[group] = static_cast<uint8_t>(code);
  const float by = __uint_as_float(code == 0 ? 0x400000u : static_cast<unsigned>(code) << 23);
  for (int i = 0; i < 32; ++i) q[group * 32 + i] = __nv_fp8_e4m3(x[group * 32 + i] / by);
}

std::vector<at::Tensor> quantize(const at::Tensor &x) {
  auto q = at::empty(x.sizes(), x.options().dtype(at::kFloat8_e4m3fn));
  auto scale = at::empty({x.size(0), x.size(1) / 32}, x.options().dtype(at::kFloat8_e8m0fnu));
  const int64_t groups = scale.numel();
  mx_kernel<<<(groups + 127) / 128, 128>>>(x.data_ptr<float>(), reinterpret_cast<__nv_fp8_e4m3 *>(q.data_ptr()),
                                           static_cast<uint8_t *>(scale.data_ptr()), groups);
  return {q, scale};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("quantize", &quantize); }
