// op: mean
// bug: race uninitialised
//
// Wrong on purpose: no barrier before the tree. The mean of rows by a reduction that is handed what it does: a
// functor, its neutral element and what comes at the end, in dynamic shared memory of any type.
#include <torch/extension.h>
#include <limits>

template <typename T>
struct SharedMemory {
  __device__ operator T *() {
    extern __shared__ __align__(16) unsigned char raw[];
    return reinterpret_cast<T *>(raw);
  }
};

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <typename scalar_t, typename Op, typename Finish>
__global__ void reduce_rows(const scalar_t *in, scalar_t *out, int64_t rows, int64_t cols, scalar_t neutral, Op op, Finish finish) {
  scalar_t *shared = SharedMemory<scalar_t>();
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    scalar_t mine = neutral;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) mine = op(mine, in[row * cols + i]);
    shared[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
      if (threadIdx.x < half) shared[threadIdx.x] = op(shared[threadIdx.x], shared[threadIdx.x + half]);
      __syncthreads();
    }
    if (threadIdx.x == 0) out[row] = finish(shared[0]);
    __syncthreads();
  }
}

struct DivideBy {
  double count;
  template <typename T>
  __device__ T operator()(T sum) const {
    return sum / static_cast<T>(count);
  }
};

torch::Tensor forward(torch::Tensor x) {
  const auto rows = x.size(0), cols = x.size(1);
  auto out = torch::empty({rows}, torch::TensorOptions().dtype(x.dtype()).device(x.device()));
  const int threads = 64, blocks = std::min<int64_t>(rows, 24);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "mean", [&] {
    reduce_rows<scalar_t><<<blocks, threads, threads * sizeof(scalar_t)>>>(
        x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), rows, cols, scalar_t(0), Sum{}, DivideBy{static_cast<double>(cols)});
  });
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "mean over the last dimension"); }
