// GELU by tanh in half precision, two elements a thread; everything between load and store is float.
//
// In half precision x^3 overflows from 41 on, and 0.044715 x^3 has lost its digits long
// before: hence float. Rows have even length, so that every pair is an aligned half2.
//
// /// kernel
// op       = "gelu_tanh"
// axes     = { rows = "1..65535", cols = { min = 2, max = 1073741824, multiple = 2 } }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { x = "f16[rows, cols] -> x", y = "f16[rows, cols] <- y" }
// align    = 4
// accuracy = { form = "tanh", functions = { tanh = "tanhf" } }
// launch   = [{ grid = "ceil_div(cols, 2 * threads), rows", block = "threads" }]
// ///

#include <cuda_fp16.h>

__device__ float gelu(float x) {
    const float t = 0.79788456080286536f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(t));
}

__global__ void gelu_tanh_half2(half *y, const half *x, int cols) {
    // y and x are (rows, cols), cols is even
    const unsigned int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const size_t row = static_cast<size_t>(blockIdx.y) * cols;
    const float2 v = __half22float2(reinterpret_cast<const half2 *>(x + row)[pair]);
    reinterpret_cast<half2 *>(y + row)[pair] = __floats2half2_rn(gelu(v.x), gelu(v.y));
}
