// silu(a) b, then e4m3 with a scale for each 128 neighbours: a warp a group, four elements a lane.
//
// /// kernel
// op       = "swiglu_quantize"
// axes     = { rows = "1..65535", cols = "1..1048576" }
// tune     = { threads = [32, 128] }
// arrays   = { a = "f32[rows, cols] -> a", b = "f32[rows, cols] -> b", q = "e4m3[rows, cols] <- q", s = "f32[rows, ceil_div(cols, 128)] <- scale" }
// accuracy = { exp = "expf", divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite", zeros = "eps" }
// launch   = [{ grid = "ceil_div(ceil_div(cols, 128), threads / 32), rows", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

constexpr int GROUP = 128;

__global__ void swiglu_e4m3_group_warp(__nv_fp8_e4m3 *q, float *s, const float *a, const float *b, int cols) {
    // q, a and b are (rows, cols), s is (rows, groups); a warp a group
    const int groups = (cols - 1) / GROUP + 1;
    const int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32;  // may pass groups - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    if (group >= groups) {
        return;  // the whole warp together
    }
    const size_t first = static_cast<size_t>(blockIdx.y) * cols;
    float mine[GROUP / 32], amax = 0.0f;
    for (int k = 0; k < GROUP / 32; ++k) {
        const int col = group * GROUP + k * 32 + lane;  // may pass cols - 1 in the last group
        const float gate = col < cols ? a[first + col] : 0.0f;
        mine[k] = col < cols ? gate / (1.0f + expf(-gate)) * b[first + col] : 0.0f;
        amax = fmaxf(amax, fabsf(mine[k]));
    }
    const float by = fmaxf(amax_of_lanes(amax), 1e-10f) / 448.0f;
    if (lane == 0) {
        s[static_cast<size_t>(blockIdx.y) * groups + group] = by;
    }
    for (int k = 0; k < GROUP / 32; ++k) {
        const int col = group * GROUP + k * 32 + lane;
        if (col < cols) {
            q[first + col] = __nv_fp8_e4m3(mine[k] / by);
        }
    }
}
