// RMS norm of each row, then int8 with a scale that is given: a warp a row, clamped as floats before the cast.
//
// /// kernel
// op       = "rms_norm_static_quantize"
// axes     = { rows = "1..2147483647", cols = "1..1048576" }
// tune     = { threads = [32, 128] }
// arrays   = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", scale = "f32[1] -> scale", q = "i8[rows, cols] <- q" }
// quantize = { apply = "divide", saturate = "finite" }
// values   = { range = [-1e15, 1e15] }
// launch   = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds      = "ceil_div(cols, 32) - 1 + 5"  # a lane's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include <cstdint>

#include "../warp_and_block.cuh"

__global__ void rms_norm_int8_warp(int8_t *q, const float *x, const float *w, const float *scale, int rows, int cols) {
    // q and x are (rows, cols), w is (cols); a warp a row
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together
    }
    x += row * cols;
    q += row * cols;
    float sum = 0.0f;
    for (int col = threadIdx.x % 32; col < cols; col += 32) {
        sum += x[col] * x[col];
    }
    const float by = rsqrtf(warp_sum(sum) / cols + 1e-6f);
    for (int col = threadIdx.x % 32; col < cols; col += 32) {
        const float t = rintf(x[col] * by * w[col] / *scale);
        q[col] = static_cast<int8_t>(fminf(fmaxf(t, -128.0f), 127.0f));
    }
}
