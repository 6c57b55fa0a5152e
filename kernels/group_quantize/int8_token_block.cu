// int8 of each row, a token, with one scale a row: a block takes the maximum of the row, then divides by amax / 127.
//
// rintf rounds ties to even; a cast alone would cut, and make 1 of 1.9. The quotient is at most 127, and a rounding more,
// because the scale is amax / 127. The scale that is stored is the one that divides.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..2147483647", cols = "1..1073741824" }
// tune     = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays   = { x = "f32[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
// scalars  = { group = "cols" }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "rows", block = "threads" }]
// ///

#include <cstdint>

#include "../amax.cuh"

__global__ void int8_token_block(int8_t *q, float *scale, const float *x, int cols) {
    // q and x are (rows, cols), scale is (rows); a block a row
    x += static_cast<size_t>(blockIdx.x) * cols;
    q += static_cast<size_t>(blockIdx.x) * cols;

    float amax = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        amax = fmaxf(amax, fabsf(x[col]));
    }
    const float by = fmaxf(amax_of_block(amax), 1e-10f) / 127.0f;
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = by;
    }
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        q[col] = static_cast<int8_t>(rintf(x[col] / by));
    }
}
