// RMS norm of each row in bfloat16, one block a row, eight elements a load; sums and everything between are float.
//
// 16 bytes hold eight elements. Row lengths are a multiple of eight, as hidden sizes are, so that every row begins aligned
// for such a load. A bfloat16 has 8 digits: the terms of the sum, and the product with the weight, must not be rounded to it.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..2147483647", cols = { min = 8, max = 1073741824, multiple = 8 } }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "bf16[rows, cols] -> x", w = "bf16[cols] -> w", y = "bf16[rows, cols] <- y" }
// align  = 16
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// adds      = "8 * ceil_div(cols, 8 * threads) - 1 + ceil_log2(min(ceil_div(cols, 8), threads))"  # loads, then halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include <cuda_bf16.h>

#include "../warp_and_block.cuh"

struct alignas(16) Eight {
    __nv_bfloat162 pairs[4];
};

__global__ void rms_norm_bf16_vec8(__nv_bfloat16 *y, const __nv_bfloat16 *x, const __nv_bfloat16 *w, int cols) {
    // y and x are (rows, cols), w is (cols); a block a row
    const int eights = cols / 8;
    const Eight *of_x = reinterpret_cast<const Eight *>(x + static_cast<size_t>(blockIdx.x) * cols);
    const Eight *of_w = reinterpret_cast<const Eight *>(w);
    Eight *of_y = reinterpret_cast<Eight *>(y + static_cast<size_t>(blockIdx.x) * cols);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < eights; i += blockDim.x) {
        const Eight some = of_x[i];
        for (int pair = 0; pair < 4; ++pair) {
            const float2 v = __bfloat1622float2(some.pairs[pair]);
            sum += v.x * v.x;
            sum += v.y * v.y;
        }
    }
    const float scale = rsqrtf(block_sum(sum) / cols + 1e-6f);

    for (int i = threadIdx.x; i < eights; i += blockDim.x) {
        const Eight some = of_x[i], weights = of_w[i];
        Eight made;
        for (int pair = 0; pair < 4; ++pair) {
            const float2 v = __bfloat1622float2(some.pairs[pair]), by = __bfloat1622float2(weights.pairs[pair]);
            made.pairs[pair] = __floats2bfloat162_rn(v.x * scale * by.x, v.y * scale * by.y);
        }
        of_y[i] = made;
    }
}
