// RMS norm of each row, then int8 with one scale a row: a block a row; the norm is made twice, for amax and for the codes.
//
// What is quantized is the float x * scale * w, never rounded in between. The codes are judged together with the scale that is
// written, which tells amax to its last bit.
//
// /// kernel
// op       = "rms_norm_quantize"
// axes     = { rows = "1..2147483647", cols = "1..1048576" }
// tune     = { threads = [32, 128, 512] }
// arrays   = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", q = "i8[rows, cols] <- q", s = "f32[rows, 1] <- scale" }
// quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "eps" }
// values   = { range = [-1e15, 1e15] }
// launch   = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// adds      = "ceil_div(cols, threads) - 1 + 10"  # a thread's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include <cstdint>

#include "../amax.cuh"
#include "../warp_and_block.cuh"

__global__ void rms_norm_int8_token_block(int8_t *q, float *s, const float *x, const float *w, int cols) {
    // q and x are (rows, cols), w is (cols), s is (rows); a block a row
    x += static_cast<size_t>(blockIdx.x) * cols;
    q += static_cast<size_t>(blockIdx.x) * cols;

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        sum += x[col] * x[col];
    }
    const float scale = rsqrtf(block_sum(sum) / cols + 1e-6f);
    float amax = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        amax = fmaxf(amax, fabsf(x[col] * scale * w[col]));
    }
    const float by = fmaxf(amax_of_block(amax), 1e-10f) / 127.0f;
    if (threadIdx.x == 0) {
        s[blockIdx.x] = by;
    }
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        q[col] = static_cast<int8_t>(rintf(x[col] * scale * w[col] / by));
    }
}
