// int4, eight in a word of 32 bits, with a scale for each 32 neighbours: q = x / (amax / 7), ties to even, at most 7 by size.
//
// A thread makes eight elements of a word; four threads, neighbours of a warp, share a group. The first element is in the
// lowest four bits.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "i4x8[rows, cols / 8] <- q", scale = "f32[rows, cols / 32] <- scale" }
// scalars  = { group = 32 }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "ceil_div(cols / 8, threads), rows", block = "threads" }]
// ///

#include <cstdint>

#include "../amax.cuh"

__global__ void int4_group_words(uint32_t *q, float *scale, const float *x, int cols) {
    // x is (rows, cols), q is (rows, cols / 8) words, scale is (rows, cols / 32); a thread a word
    const int word = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 8 - 1
    const bool is_there = word < cols / 8;
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 8) + word;

    float mine[8], amax = 0.0f;
    for (int k = 0; k < 8; ++k) {
        mine[k] = is_there ? x[i * 8 + k] : 0.0f;
        amax = fmaxf(amax, fabsf(mine[k]));
    }
    const float by = fmaxf(amax_of_lanes<largest, 4>(amax), 1e-10f) / 7.0f;
    if (!is_there) {
        return;
    }
    if (word % 4 == 0) {
        scale[i / 4] = by;
    }
    uint32_t packed = 0;
    for (int k = 0; k < 8; ++k) {
        packed |= (static_cast<uint32_t>(static_cast<int>(rintf(mine[k] / by))) & 15u) << 4 * k;
    }
    q[i] = packed;
}
