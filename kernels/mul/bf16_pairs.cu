// The product of two arrays in bfloat16, two elements a thread; each product is made in float and rounded once.
//
// Rows have even length, so that every pair is an aligned __nv_bfloat162.
//
// /// kernel
// op     = "mul"
// axes   = { rows = "1..65535", cols = { min = 2, max = 1073741824, multiple = 2 } }
// tune   = { threads = [64, 256, 1024] }
// arrays = { a = "bf16[rows, cols] -> a", b = "bf16[rows, cols] -> b", y = "bf16[rows, cols] <- y" }
// align  = 4
// launch = [{ grid = "ceil_div(cols, 2 * threads), rows", block = "threads" }]
// ///

#include <cuda_bf16.h>

__global__ void mul_bf16_pairs(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int cols) {
    // y, a and b are (rows, cols), cols is even
    const unsigned int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const size_t row = static_cast<size_t>(blockIdx.y) * cols;
    const float2 v = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162 *>(a + row)[pair]);
    const float2 w = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162 *>(b + row)[pair]);
    reinterpret_cast<__nv_bfloat162 *>(y + row)[pair] = __floats2bfloat162_rn(v.x * w.x, v.y * w.y);
}
