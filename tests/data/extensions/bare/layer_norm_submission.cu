// op: layer_norm
//
// LayerNorm as submitted to a benchmark: one block a row, Welford's sums joined over warps, half or float by dispatch, the
// current stream, eps with a value of its own in the module.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

namespace {

template <typename acc_t>
struct WelfordData {
  acc_t mean = 0, m2 = 0;
  int64_t count = 0;
  __device__ void add(acc_t x) {
    count++;
    acc_t delta = x - mean;
    mean += delta / count;
    m2 += delta * (x - mean);
  }
  __device__ void join(acc_t other_mean, acc_t other_m2, int64_t other_count) {
    int64_t all = count + other_count;
    if (all == 0) return;
    acc_t delta = other_mean - mean;
    mean += delta * other_count / all;
    m2 += other_m2 + delta * delta * count * other_count / all;
    count = all;
  }
};

template <typename scalar_t, int BLOCK>
__global__ void __launch_bounds__(BLOCK) layer_norm_kernel(scalar_t *__restrict__ out, const scalar_t *__restrict__ in,
                                                           const scalar_t *__restrict__ weight,
                                                           const scalar_t *__restrict__ bias, int64_t cols, float eps) {
  using acc_t = at::acc_type<scalar_t, true>;
  __shared__ acc_t s_mean[BLOCK / 32], s_m2[BLOCK / 32];
  __shared__ int64_t s_count[BLOCK / 32];
  const scalar_t *row = in + blockIdx.x * cols;
  WelfordData<acc_t> data;
  for (int64_t i = threadIdx.x; i < cols; i += BLOCK) data.add(static_cast<acc_t>(row[i]));
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    acc_t mean = __shfl_down_sync(0xffffffff, data.mean, offset), m2 = __shfl_down_sync(0xffffffff, data.m2, offset);
    int64_t count = __shfl_down_sync(0xffffffff, data.count, offset);
    data.join(mean, m2, count);
  }
  const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  if (lane == 0) s_mean[wid] = data.mean, s_m2[wid] = data.m2, s_count[wid] = data.count;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < BLOCK / 32; w++) data.join(s_mean[w], s_m2[w], s_count[w]);
    s_mean[0] = data.mean;
    s_m2[0] = rsqrt(data.m2 / cols + static_cast<acc_t>(eps));
  }
  __syncthreads();
  const acc_t mean = s_mean[0], rstd = s_m2[0];
  for (int64_t i = threadIdx.x; i < cols; i += BLOCK)
    out[blockIdx.x * cols + i] =
        static_cast<scalar_t>((static_cast<acc_t>(row[i]) - mean) * rstd * static_cast<acc_t>(weight[i]) + static_cast<acc_t>(bias[i]));
}

}  // namespace

torch::Tensor layer_norm_forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  CHECK_INPUT(x);
  CHECK_INPUT(weight);
  CHECK_INPUT(bias);
  const auto cols = x.size(-1);
  const auto rows = x.numel() / cols;
  auto out = torch::empty_like(x);
  constexpr int threads = 128;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "layer_norm_forward", ([&] {
    layer_norm_kernel<scalar_t, threads><<<rows, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), cols,
        static_cast<float>(eps));
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &layer_norm_forward, "LayerNorm forward (CUDA)", py::arg("x"), py::arg("weight"), py::arg("bias"),
        py::arg("eps") = 1e-5);
}
