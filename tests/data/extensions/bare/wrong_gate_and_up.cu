// op: swiglu
// bug: numeric special
//
// Wrong on purpose: gate and up change places. SwiGLU in one pass over two tensors of any shape, four numbers a
// thread in turn, by a kernel that is handed views of them.
#include <torch/all.h>
#include <torch/python.h>

template <typename T>
__device__ __forceinline__ T silu(const T &x) {
  return static_cast<T>(x / (1.0f + expf(-x)));
}

template <typename T, int ILP>
__global__ void act_and_mul_kernel(T *__restrict__ out, const T *__restrict__ gate, const T *__restrict__ up, const int64_t n) {
  const int64_t base = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * ILP;
#pragma unroll
  for (int i = 0; i < ILP; i++) {
    if (base + i >= n) break;
    out[base + i] = silu(up[base + i]) * gate[base + i];
  }
}

at::Tensor swiglu(const at::Tensor &gate, const at::Tensor &up) {
  TORCH_CHECK(gate.sizes() == up.sizes(), "sizes differ");
  const at::Tensor g = gate.reshape({-1}), u = up.reshape({-1});
  at::Tensor out = at::empty_like(g);
  constexpr int ILP = 4;
  const int threads = 64, blocks = static_cast<int>((g.numel() + threads * ILP - 1) / (threads * ILP));
  act_and_mul_kernel<float, ILP><<<blocks, threads>>>(out.data_ptr<float>(), g.const_data_ptr<float>(), u.const_data_ptr<float>(), g.numel());
  return out.view_as(gate);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("swiglu", &swiglu); }
