// int8 of each row by a warp, four elements a load and four codes a store: x * (127 / amax), and amax / 127 is stored.
//
// The inverse is made from amax and not from the scale, so that a quotient carries two roundings that the scale does not
// share. Rows are a multiple of four long, so that each begins aligned.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..2147483647", cols = { min = 4, max = 1073741824, multiple = 4 } }
// tune     = { threads = [32, 64, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
// scalars  = { group = "cols" }
// align    = 16
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "multiply", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
// ///

#include <cstdint>

#include "../amax.cuh"

__device__ __forceinline__ signed char code_of(float value, float inverse) {
    return static_cast<signed char>(rintf(value * inverse));
}

__global__ void int8_token_warp_vec4(int8_t *q, float *scale, const float *x, int rows, int cols) {
    // q and x are (rows, cols), scale is (rows); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    const float4 *of_x = reinterpret_cast<const float4 *>(x + row * cols);
    char4 *of_q = reinterpret_cast<char4 *>(q + row * cols);

    float amax = 0.0f;
    for (int i = lane; i < cols / 4; i += 32) {
        const float4 v = of_x[i];
        amax = fmaxf(amax, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    amax = fmaxf(amax_of_lanes(amax), 1e-10f);
    if (lane == 0) {
        scale[row] = amax / 127.0f;
    }
    const float inverse = 127.0f / amax;
    for (int i = lane; i < cols / 4; i += 32) {
        const float4 v = of_x[i];
        of_q[i] = make_char4(code_of(v.x, inverse), code_of(v.y, inverse), code_of(v.z, inverse), code_of(v.w, inverse));
    }
}
