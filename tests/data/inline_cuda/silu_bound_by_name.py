import torch
from torch import nn
from torch.utils import cpp_extension


class _Src:
    CUDA = """
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
template <typename scalar_t>
__global__ void silu_kernel(const scalar_t* x, scalar_t* y, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) { float v = x[i]; y[i] = v / (1.0f + expf(-v)); }
}
torch::Tensor silu_forward(torch::Tensor x) {
    auto y = at::empty_like(x);
    int64_t n = x.numel();
    if (n == 0) return y;
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "silu", [&] {
        silu_kernel<scalar_t><<<(n + 255) / 256, 256>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
    });
    return y;
}
"""
    CPP = """
torch::Tensor silu_forward(torch::Tensor x);
#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_INPUT(x) CHECK_CUDA(x); TORCH_CHECK(x.is_contiguous())
torch::Tensor forward(torch::Tensor x) { CHECK_INPUT(x); return silu_forward(x); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "SiLU forward (CUDA)");
}
"""


ext = cpp_extension.load_inline(name="silu_ext", cpp_sources=[_Src.CPP], cuda_sources=[_Src.CUDA], verbose=False)


class SiLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return ext.forward(x)

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError


class ModelNew(nn.Module):
    def forward(self, x):
        assert x.is_cuda, "needs a GPU"
        return SiLU.apply(x.cuda().contiguous())
