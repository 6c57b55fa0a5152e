// e4m3 of each row of bfloat16, a token: a block a row, eight elements a load, q = x * (448 / amax).
//
// The inverse is made from amax itself, and not from the scale that is stored, so that a quotient carries two roundings of its
// own. A NaN must reach the scale: fmaxf would lose it, and the row would look right. The conversion to e4m3 saturates.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..2147483647", cols = { min = 8, max = 1073741824, multiple = 8 } }
// tune     = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays   = { x = "bf16[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
// scalars  = { group = "cols", eps = 1e-12 }
// align    = 16
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "multiply", saturate = "finite", nan = "group", zeros = "eps" }
// launch   = [{ grid = "rows", block = "threads" }]
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "../amax.cuh"

struct alignas(16) Eight {
    __nv_bfloat16 of[8];
};

struct alignas(8) EightCodes {
    __nv_fp8_e4m3 of[8];
};

__global__ void e4m3_token_bf16_vec8(__nv_fp8_e4m3 *q, float *scale, const __nv_bfloat16 *x, int cols) {
    // q and x are (rows, cols), scale is (rows); a block a row
    const Eight *of_x = reinterpret_cast<const Eight *>(x + static_cast<size_t>(blockIdx.x) * cols);
    EightCodes *of_q = reinterpret_cast<EightCodes *>(q + static_cast<size_t>(blockIdx.x) * cols);

    float amax = 0.0f;
    for (int i = threadIdx.x; i < cols / 8; i += blockDim.x) {
        const Eight some = of_x[i];
        for (int k = 0; k < 8; ++k) {
            amax = largest_or_nan(amax, fabsf(__bfloat162float(some.of[k])));
        }
    }
    amax = largest_or_nan(amax_of_block<largest_or_nan>(amax), 1e-12f);
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = amax / 448.0f;
    }
    const float inverse = 448.0f / amax;
    for (int i = threadIdx.x; i < cols / 8; i += blockDim.x) {
        const Eight some = of_x[i];
        EightCodes made;
        for (int k = 0; k < 8; ++k) {
            made.of[k] = __nv_fp8_e4m3(__bfloat162float(some.of[k]) * inverse);
        }
        of_q[i] = made;
    }
}
