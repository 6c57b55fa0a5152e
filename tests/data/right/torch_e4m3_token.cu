// e4m3 for each row by a PyTorch extension that fills the float8 tensor it is given, as vLLM's quantizers do.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = "1..65536" }
// arrays   = { x = "bf16[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
// scalars  = { group = "cols" }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite", zeros = "eps" }
// host     = { entry = "quantize" }
// ///

#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

template <typename T, typename Q>
__global__ void token_kernel(const T *__restrict__ x, Q *__restrict__ q, float *__restrict__ scale, int cols) {
  __shared__ float of_thread[256];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * cols;
  float amax = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) amax = fmaxf(amax, fabsf(static_cast<float>(x[first + i])));
  of_thread[threadIdx.x] = amax;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) of_thread[threadIdx.x] = fmaxf(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
  }
  __syncthreads();
  const float s = fmaxf(of_thread[0], 1e-10f) / 448.0f;
  if (threadIdx.x == 0) scale[blockIdx.x] = s;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float t = fminf(fmaxf(static_cast<float>(x[first + i]) / s, -448.0f), 448.0f);
    q[first + i] = static_cast<Q>(t);
  }
}

void quantize(const at::Tensor &x, at::Tensor &q, at::Tensor &scale) {
  TORCH_CHECK(x.is_contiguous() && q.is_contiguous(), "expected contiguous tensors");
  TORCH_CHECK(q.scalar_type() == at::kFloat8_e4m3fn, "expected float8_e4m3fn, got ", q.scalar_type());
  const int cols = x.size(-1);
  const int rows = x.numel() / cols;
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "quantize", [&] {
    token_kernel<scalar_t, c10::Float8_e4m3fn><<<rows, 256, 0, stream>>>(
        x.data_ptr<scalar_t>(), q.data_ptr<c10::Float8_e4m3fn>(), scale.data_ptr<float>(), cols);
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("quantize", &quantize); }
