// int8 with a scale for each 128 neighbours of a row, rounded by roundf: of two equally near integers the one further from 0.
//
// A warp makes a group: four elements a lane, a maximum by shuffles, then the quotients. The claim says "away", because
// rintf and the conversion of a GPU round ties to even.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, ceil_div(cols, 128)] <- scale" }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", round = "away", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "ceil_div(ceil_div(cols, 128), threads / 32), rows", block = "threads" }]
// ///

#include <cstdint>

#include "../amax.cuh"

constexpr int GROUP = 128;

__global__ void int8_group_ties_away(int8_t *q, float *scale, const float *x, int cols) {
    // q and x are (rows, cols), scale is (rows, groups); a warp a group
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
    const float by = fmaxf(amax_of_lanes(amax), 1e-10f) / 127.0f;
    if (lane == 0) {
        scale[static_cast<size_t>(blockIdx.y) * groups + group] = by;
    }
    for (int i = lane; i < count; i += 32) {
        q[first + i] = static_cast<int8_t>(roundf(x[first + i] / by));
    }
}
