// e4m3 with a scale for each 128 neighbours of a row: a warp makes a group, q = x / (amax / 448).
//
// The conversion saturates; without it a quotient that passes 448 by a rounding would be NaN. The last group of a row may be
// shorter. The scales of one group of columns lie one after another, as a block-scaled product reads them.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "f32[rows, ceil_div(cols, 128)] <- scale, by columns" }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite", zeros = "eps" }
// launch   = [{ grid = "ceil_div(ceil_div(cols, 128), threads / 32), rows", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

constexpr int GROUP = 128;

__global__ void e4m3_group_warp(__nv_fp8_e4m3 *q, float *scale, const float *x, int cols) {
    // q and x are (rows, cols), scale is (groups, rows) in memory; a warp a group
    const int groups = (cols - 1) / GROUP + 1;
    const int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32;  // may pass groups - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    if (group >= groups) {
        return;  // the whole warp together
    }
    const size_t first = static_cast<size_t>(blockIdx.y) * cols + static_cast<size_t>(group) * GROUP;
    const int count = min(GROUP, cols - group * GROUP);  // the last group may be shorter

    float amax = 0.0f;
    for (int i = lane; i < count; i += 32) {
        amax = fmaxf(amax, fabsf(x[first + i]));
    }
    const float by = fmaxf(amax_of_lanes(amax), 1e-10f) / 448.0f;
    if (lane == 0) {
        scale[static_cast<size_t>(group) * gridDim.y + blockIdx.y] = by;
    }
    for (int i = lane; i < count; i += 32) {
        q[first + i] = __nv_fp8_e4m3(x[first + i] / by);
    }
}
