// class: lanes that never meet
// op: row_sum
// bug: inactive-lane
//
// Partial sums of a block's warps are added up by one more warp. With the bug only as many lanes as there are warps come
// to it, though the mask names all 32: what the others give is anybody's guess.
#include <torch/extension.h>

__inline__ __device__ float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance >>= 1) value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void row_sums(float *y, const float *x, int cols) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[blockIdx.x * cols + i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  int warps = blockDim.x / 32;
#ifdef BUG
  if (threadIdx.x < warps) {
    sum = warp_sum(part[threadIdx.x]);
#else
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < warps ? part[threadIdx.x] : 0.0f);
#endif
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  row_sums<<<x.size(0), 128>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
