// SiLU in bfloat16, one thread an element: x / (1 + exp(-x)) in float.
//
// exp(-x) overflows for x below -88, and x / inf is the correct 0; x exp(x) / (1 + exp(x)) would be NaN for large x.
//
// /// kernel
// op     = "silu"
// axes   = { rows = "1..65535", cols = "1..1073741824" }
// tune   = { threads = [64, 256, 1024] }
// arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
// launch = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
//
// [accuracy]
// form   = "x / (1 + exp(-x))"
// exp    = "expf"
// divide = "ieee"
// ///

#include <cuda_bf16.h>

__global__ void silu_bf16(__nv_bfloat16 *y, const __nv_bfloat16 *x, int cols) {
    // y and x are (rows, cols)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float value = __bfloat162float(x[i]);
    y[i] = __float2bfloat16(value / (1.0f + expf(-value)));
}
