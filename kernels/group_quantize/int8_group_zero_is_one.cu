// int8 with a scale for each 32 neighbours, a lane an element; a group of zeros has the scale 1, as llama.cpp's Q8_0 has 0.
//
// 0 / 1 is 0, so that such a group needs no eps, which would change tiny numbers. A scale that underflows to 0 would divide
// by zero: the claim leaves such numbers out.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f16[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, cols / 32] <- scale" }
// scalars  = { group = 32, eps = 0 }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "one" }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

#include <cstdint>
#include <cuda_fp16.h>

#include "../amax.cuh"

__global__ void int8_group_zero_is_one(int8_t *q, float *scale, const __half *x, int cols) {
    // q and x are (rows, cols), scale is (rows, cols / 32); a lane an element
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1, then for a whole warp
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float value = __half2float(x[i]);
    const float amax = amax_of_lanes(fabsf(value));
    const float by = amax == 0.0f ? 1.0f : amax / 127.0f;
    if (threadIdx.x % 32 == 0) {
        scale[i / 32] = by;
    }
    q[i] = static_cast<int8_t>(rintf(value / by));
}
