// gelu_tanh/half2, which works out x^3 in half precision.
//
// From 41 on the cube is infinite, which tanh takes well; but its other digits are gone from the beginning.
//
// /// kernel
// op     = "gelu_tanh"
// axes   = { rows = "1..65535", cols = { min = 2, max = 1073741824, multiple = 2 } }
// tune   = { threads = [64, 256, 1024] }
// arrays = { x = "f16[rows, cols] -> x", y = "f16[rows, cols] <- y" }
// align  = 4
//
// [accuracy]
// form      = "tanh"
// functions = { tanh = "tanhf" }
//
// [broken]
// kind = "numeric"
// why  = "the cube is a half, undeclared"
//
// [[launch]]
// entry = "gelu_tanh_half2"
// grid  = "ceil_div(cols, 2 * threads), rows"
// block = "threads"
// args  = ["y", "x", "cols"]
// ///

#include <cuda_fp16.h>

__device__ float gelu(half h) {
    const float x = __half2float(h);
    const float t = 0.79788456080286536f * (x + 0.044715f * __half2float(h * h * h));
    return 0.5f * x * (1.0f + tanhf(t));
}

__global__ void gelu_tanh_half2(half *y, const half *x, int cols) {
    // y and x are (rows, cols), cols is even
    const unsigned int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const size_t row = static_cast<size_t>(blockIdx.y) * cols;
    const half2 v = reinterpret_cast<const half2 *>(x + row)[pair];
    reinterpret_cast<half2 *>(y + row)[pair] = __floats2half2_rn(gelu(v.x), gelu(v.y));
}
