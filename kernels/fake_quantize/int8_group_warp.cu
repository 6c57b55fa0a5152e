// x as int8 would hold it: rounded to a multiple of a scale for each 128 neighbours, which no output shows. A warp a group.
//
// Training simulates int8 in this way. Each element tells where the scale may lie, and one scale must fit the whole group.
//
// /// kernel
// op       = "fake_quantize"
// axes     = { rows = "1..65535", cols = "1..1048576" }
// tune     = { threads = [32, 128] }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// accuracy = { form = "i8", divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "ceil_div(ceil_div(cols, 128), threads / 32), rows", block = "threads" }]
// ///

#include "../amax.cuh"

constexpr int GROUP = 128;

__global__ void fake_int8_group_warp(float *y, const float *x, int cols) {
    // y and x are (rows, cols); a warp a group
    const int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32;  // may pass the last group
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t first = static_cast<size_t>(blockIdx.y) * cols;
    float mine[GROUP / 32], amax = 0.0f;
    for (int k = 0; k < GROUP / 32; ++k) {
        const int col = group * GROUP + k * 32 + lane;  // may pass cols - 1
        mine[k] = col < cols ? x[first + col] : 0.0f;
        amax = fmaxf(amax, fabsf(mine[k]));
    }
    const float by = fmaxf(amax_of_lanes(amax), 1e-10f) / 127.0f;
    for (int k = 0; k < GROUP / 32; ++k) {
        const int col = group * GROUP + k * 32 + lane;
        if (col < cols) {
            y[first + col] = rintf(mine[k] / by) * by;
        }
    }
}
