// op: rms_norm
// bug: out-of-bounds numeric special misaligned unwritten
//
// Wrong on purpose: whole vectors whatever the length. RMSNorm that goes one way for rows of whole vectors at
// addresses that fit, and another for all others.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

__device__ float block_sum(float value) {
  static __shared__ float warps[32];
  for (int mask = 16; mask > 0; mask >>= 1) value += __shfl_xor_sync(0xffffffff, value, mask);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f;
  if (threadIdx.x < 32) {
    for (int mask = 16; mask > 0; mask >>= 1) value += __shfl_xor_sync(0xffffffff, value, mask);
    if (threadIdx.x == 0) warps[0] = value;
  }
  __syncthreads();
  return warps[0];
}

__global__ void by_vectors(float *out, const float *x, const float *w, int cols, float eps) {
  const float4 *row = reinterpret_cast<const float4 *>(x + static_cast<size_t>(blockIdx.x) * cols);
  const float4 *weights = reinterpret_cast<const float4 *>(w);
  float4 *to = reinterpret_cast<float4 *>(out + static_cast<size_t>(blockIdx.x) * cols);
  float sum = 0;
  for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
    const float4 v = row[i];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float scale = rsqrtf(block_sum(sum) / cols + eps);
  for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
    const float4 v = row[i], f = weights[i];
    to[i] = make_float4(v.x * scale * f.x, v.y * scale * f.y, v.z * scale * f.z, v.w * scale * f.w);
  }
}

__global__ void one_by_one(float *out, const float *x, const float *w, int cols, float eps) {
  const float *row = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i] * row[i];
  const float scale = rsqrtf(block_sum(sum) / cols + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[static_cast<size_t>(blockIdx.x) * cols + i] = row[i] * scale * w[i];
}

static bool fits(const void *address) { return reinterpret_cast<uintptr_t>(address) % 16 == 0; }

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double epsilon = 1e-6) {
  const at::cuda::OptionalCUDAGuard guard(device_of(x));
  auto out = torch::empty_like(x);
  float *to = out.data_ptr<float>();
  const float *from = x.data_ptr<float>(), *w = weight.data_ptr<float>();
  const int rows = x.size(0), cols = x.size(1), threads = cols > 256 ? 256 : 64;
  auto stream = at::cuda::getCurrentCUDAStream();
  if (fits(to) && fits(from) && fits(w))
    by_vectors<<<rows, threads, 0, stream>>>(to, from, w, cols, static_cast<float>(epsilon));
  else
    one_by_one<<<rows, threads, 0, stream>>>(to, from, w, cols, static_cast<float>(epsilon));
  AT_CUDA_CHECK(cudaGetLastError());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("rms_norm", &rms_norm, py::arg("x"), py::arg("weight"), py::arg("epsilon") = 1e-6);
}
