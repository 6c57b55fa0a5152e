// SwiGLU in bfloat16, two elements a thread: y = a sigmoid(a) b, in float between load and store.
//
// Rows have even length, so that every pair is an aligned __nv_bfloat162.
//
// /// kernel
// op     = "swiglu"
// axes   = { rows = "1..65535", cols = { min = 2, max = 1073741824, multiple = 2 } }
// tune   = { threads = [64, 256, 1024] }
// arrays = { a = "bf16[rows, cols] -> a", b = "bf16[rows, cols] -> b", y = "bf16[rows, cols] <- y" }
// align  = 4
// launch = [{ grid = "ceil_div(cols, 2 * threads), rows", block = "threads" }]
//
// [accuracy]
// form   = "a sigmoid(a)"
// exp    = "expf"
// divide = "ieee"
// ///

#include <cuda_bf16.h>

__device__ float silu(float x) {
    return x * (1.0f / (1.0f + expf(-x)));
}

__global__ void swiglu_bf16_pairs(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int cols) {
    // y, a and b are (rows, cols), cols is even
    const unsigned int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const size_t row = static_cast<size_t>(blockIdx.y) * cols;
    const float2 gate = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162 *>(a + row)[pair]);
    const float2 by = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162 *>(b + row)[pair]);
    reinterpret_cast<__nv_bfloat162 *>(y + row)[pair] = __floats2bfloat162_rn(silu(gate.x) * by.x, silu(gate.y) * by.y);
}
