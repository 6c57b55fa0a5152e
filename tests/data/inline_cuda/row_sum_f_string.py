import torch
from torch.utils.cpp_extension import load_inline
from task import input_t, output_t

BLOCK = 128
CUDA = f"""
#include <cuda_runtime.h>
template <int N>
__global__ void sum_rows(const float *x, float *y, int cols) {{
    __shared__ float s[N];
    float t = 0.0f;
    for (int i = threadIdx.x; i < cols; i += N) t += x[blockIdx.x * (size_t)cols + i];
    s[threadIdx.x] = t;
    __syncthreads();
    for (int k = N / 2; k; k /= 2) {{
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }}
    if (!threadIdx.x) y[blockIdx.x] = s[0];
}}
void row_sum(torch::Tensor x, torch::Tensor y) {{
    sum_rows<{BLOCK}><<<x.size(0), {BLOCK}>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
}}
"""
module = load_inline(
    name="rs",
    cpp_sources="void row_sum(torch::Tensor x, torch::Tensor y);",
    cuda_sources=CUDA,
    functions=["row_sum"],
    with_cuda=True,
    build_directory=None,
)


def custom_kernel(data: input_t) -> output_t:
    x, y = data
    module.row_sum(x, y)
    return y
