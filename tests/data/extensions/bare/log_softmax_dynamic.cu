// op: log_softmax
// Dynamic shared memory of two kinds in one array, with a stream of its own and a guard for the device.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

__global__ void log_softmax(float *y, const float *x, int cols) {
  extern __shared__ float shared[];
  float *tops = shared, *sums = shared + blockDim.x;
  x += (size_t)blockIdx.x * cols, y += (size_t)blockIdx.x * cols;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) top = fmaxf(top, x[i]);
  tops[threadIdx.x] = top;
  __syncthreads();
  for (unsigned int half = blockDim.x / 2; half; half >>= 1) {
    if (threadIdx.x < half) tops[threadIdx.x] = fmaxf(tops[threadIdx.x], tops[threadIdx.x + half]);
    __syncthreads();
  }
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(x[i] - tops[0]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned int half = blockDim.x / 2; half; half >>= 1) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const float log_sum = logf(sums[0]);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] = x[i] - tops[0] - log_sum;
}

torch::Tensor log_softmax_cuda(torch::Tensor x, int64_t dim) {
  TORCH_CHECK(dim == -1 || dim == x.dim() - 1, "only the last dimension");
  const c10::cuda::CUDAGuard guard(x.device());
  auto y = torch::empty_like(x);
  const int threads = 64;
  log_softmax<<<x.size(0), threads, 2 * threads * sizeof(float), at::cuda::getCurrentCUDAStream()>>>(
      y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &log_softmax_cuda, py::arg("x"), py::arg("dim") = -1);
}
