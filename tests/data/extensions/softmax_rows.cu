// Softmax of each row, one block a row; an extension as PyTorch loads it.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..4096", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// host   = { entry = "softmax_forward", args = ["x", -1], home = { rows = 16, cols = 1024 } }
// ///
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) \
  CHECK_CUDA(x);       \
  CHECK_CONTIGUOUS(x)

template <typename scalar_t, int BLOCK>
__global__ void softmax_kernel(scalar_t* __restrict__ out, const scalar_t* __restrict__ in, int cols) {
  __shared__ float part[BLOCK];
  const scalar_t* x = in + blockIdx.x * (int64_t)cols;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += BLOCK) top = fmaxf(top, static_cast<float>(x[i]));
  part[threadIdx.x] = top;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += BLOCK) sum += expf(static_cast<float>(x[i]) - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  sum = part[0];
  for (int i = threadIdx.x; i < cols; i += BLOCK)
    out[blockIdx.x * (int64_t)cols + i] = static_cast<scalar_t>(expf(static_cast<float>(x[i]) - top) / sum);
}

torch::Tensor softmax_forward(torch::Tensor input, int64_t dim) {
  CHECK_INPUT(input);
  if (dim < 0) dim += input.dim();
  TORCH_CHECK(dim == input.dim() - 1, "only the last dimension, not ", dim);
  const at::cuda::OptionalCUDAGuard guard(device_of(input));
  auto output = torch::empty_like(input);
  const int cols = input.size(-1);
  const int rows = input.numel() / cols;
  constexpr int threads = 128;
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "softmax_forward", ([&] {
    softmax_kernel<scalar_t, threads><<<rows, threads, 0, stream>>>(
        output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), cols);
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &softmax_forward, "Softmax (CUDA)", py::arg("input"), py::arg("dim") = -1);
}
