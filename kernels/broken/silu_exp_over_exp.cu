// silu/bf16 as x exp(x) / (1 + exp(x)).
//
// The same formula on paper; from 89 on both exps are infinite, and their quotient is NaN.
//
// /// kernel
// op     = "silu"
// axes   = { rows = "1..65535", cols = "1..1073741824" }
// tune   = { threads = [64, 256, 1024] }
// arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
//
// [accuracy]
// form   = "x / (1 + exp(-x))"
// exp    = "expf"
// divide = "ieee"
//
// [broken]
// kind = "special"
// why  = "exp(x) overflows above and below the line"
//
// [[launch]]
// entry = "silu_bf16"
// grid  = "ceil_div(cols, threads), rows"
// block = "threads"
// args  = ["y", "x", "cols"]
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
    y[i] = __float2bfloat16(value * (expf(value) / (1.0f + expf(value))));
}
