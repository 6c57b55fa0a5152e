// RMS norm of each row of bfloat16, then e4m3 with a scale that is given: a block a row, eight elements a load and a store.
//
// One inverse serves all elements. A norm beyond 448 scales saturates, since the scale was chosen without it.
//
// /// kernel
// op       = "rms_norm_static_quantize"
// axes     = { rows = "1..2147483647", cols = { min = 8, max = 1048576, multiple = 8 } }
// tune     = { threads = [32, 128, 512] }
// arrays   = { x = "bf16[rows, cols] -> x", w = "bf16[cols] -> w", scale = "f32[1] -> scale", q = "e4m3[rows, cols] <- q" }
// align    = 16
// quantize = { apply = "multiply", saturate = "finite" }
// values   = { range = [-1e15, 1e15] }
// launch   = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// adds      = "8 * ceil_div(cols, 8 * threads) - 1 + ceil_log2(min(ceil_div(cols, 8), threads))"  # loads, then halvings
// divide    = "reciprocal"
// functions = { rsqrt = "rsqrtf" }
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "../warp_and_block.cuh"

struct alignas(16) Eight {
    __nv_bfloat16 of[8];
};

struct alignas(8) EightCodes {
    __nv_fp8_e4m3 of[8];
};

__global__ void rms_norm_e4m3_bf16_vec8(__nv_fp8_e4m3 *q, const __nv_bfloat16 *x, const __nv_bfloat16 *w, const float *scale,
                                        int cols) {
    // q and x are (rows, cols), w is (cols); a block a row
    const Eight *of_x = reinterpret_cast<const Eight *>(x + static_cast<size_t>(blockIdx.x) * cols);
    const Eight *of_w = reinterpret_cast<const Eight *>(w);
    EightCodes *of_q = reinterpret_cast<EightCodes *>(q + static_cast<size_t>(blockIdx.x) * cols);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols / 8; i += blockDim.x) {
        const Eight some = of_x[i];
        for (int k = 0; k < 8; ++k) {
            sum += __bfloat162float(some.of[k]) * __bfloat162float(some.of[k]);
        }
    }
    const float by = rsqrtf(block_sum(sum) / cols + 1e-6f), inverse = 1.0f / *scale;
    for (int i = threadIdx.x; i < cols / 8; i += blockDim.x) {
        const Eight some = of_x[i], weights = of_w[i];
        EightCodes made;
        for (int k = 0; k < 8; ++k) {
            made.of[k] = __nv_fp8_e4m3(__bfloat162float(some.of[k]) * by * __bfloat162float(weights.of[k]) * inverse);
        }
        of_q[i] = made;
    }
}
