// MX with e5m2: a power of two for each 32 neighbours, from amax * (1 / 57344), and a product with its inverse, which is exact.
//
// 1 / 57344 is no float, so that amax * (1 / 57344) may be a step above a power of two where amax / 57344 is one: the scale is then
// the next power, rightly. Four lanes make a group, eight elements each.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "e5m2[rows, cols] <- q", scale = "e8m0[rows, cols / 32] <- scale" }
// scalars  = { group = 32, eps = 0 }
// quantize = { scale = "power of two up", saturate = "finite", zeros = "least" }
// launch   = [{ grid = "ceil_div(cols / 8, threads), rows", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

__global__ void mx_e5m2_inverse(__nv_fp8_e5m2 *q, __nv_fp8_e8m0 *scale, const float *x, int cols) {
    // q and x are (rows, cols), scale is (rows, cols / 32); a lane eight elements
    const int eight = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 8 - 1
    const bool is_there = eight < cols / 8;
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 8) + eight;

    float mine[8], amax = 0.0f;
    for (int k = 0; k < 8; ++k) {
        mine[k] = is_there ? x[i * 8 + k] : 0.0f;
        amax = fmaxf(amax, fabsf(mine[k]));
    }
    const unsigned int code = exponent_up(amax_of_lanes<largest, 4>(amax) * (1.0f / 57344.0f));
    if (!is_there) {
        return;
    }
    if (eight % 4 == 0) {
        scale[i / 4].__x = static_cast<__nv_fp8_storage_t>(code);
    }
    const float inverse = power_of(254u - code);  // of 2^(code - 127)
    for (int k = 0; k < 8; ++k) {
        q[i * 8 + k] = __nv_fp8_e5m2(mine[k] * inverse);
    }
}
