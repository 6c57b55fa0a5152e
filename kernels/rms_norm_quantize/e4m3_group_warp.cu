// RMS norm of each row, then e4m3 with a scale for each 128 neighbours: a warp a row, which it reads twice.
//
// The row is a multiple of 128 long: in each group a lane has four elements, and amax of the group is that of the lanes.
//
// /// kernel
// op       = "rms_norm_quantize"
// axes     = { rows = "1..2147483647", cols = { min = 128, max = 1048576, multiple = 128 } }
// tune     = { threads = [32, 128] }
// arrays   = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", q = "e4m3[rows, cols] <- q", s = "f32[rows, cols / 128] <- scale" }
// scalars  = { group = 128 }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite", zeros = "eps" }
// values   = { range = [-1e15, 1e15] }
// launch   = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds      = "ceil_div(cols, 32) - 1 + 5"  # a lane's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

constexpr int GROUP = 128;

__global__ void rms_norm_e4m3_group_warp(__nv_fp8_e4m3 *q, float *s, const float *x, const float *w, int rows, int cols) {
    // q and x are (rows, cols), w is (cols), s is (rows, cols / 128); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together
    }
    x += row * cols;
    q += row * cols;
    s += row * (cols / GROUP);

    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        sum += x[col] * x[col];
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    const float scale = rsqrtf(sum / cols + 1e-6f);
    for (int group = 0; group < cols / GROUP; ++group) {
        float mine[GROUP / 32], amax = 0.0f;
        for (int k = 0; k < GROUP / 32; ++k) {
            const int col = group * GROUP + k * 32 + lane;
            mine[k] = x[col] * scale * w[col];
            amax = fmaxf(amax, fabsf(mine[k]));
        }
        const float by = fmaxf(amax_of_lanes(amax), 1e-10f) / 448.0f;
        if (lane == 0) {
            s[group] = by;
        }
        for (int k = 0; k < GROUP / 32; ++k) {
            q[group * GROUP + k * 32 + lane] = __nv_fp8_e4m3(mine[k] / by);
        }
    }
}
