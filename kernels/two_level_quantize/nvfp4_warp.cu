// nvfp4: e2m1, two in a byte, with a scale of e4m3 for each 16 neighbours and one float for all; 16 lanes make a group.
//
// A scale is e4m3(amax overall / 6); an element is divided by what the scale means, scale / overall. A group whose scale is 0 is
// one of zeros, or so small that it becomes one.
//
// /// kernel
// op       = "two_level_quantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 1048576, multiple = 32 } }
// tune     = { threads = [32, 128] }
// arrays   = { x = "f32[rows, cols] -> x", overall = "f32[1] -> overall", q = "e2m1x2[rows, cols / 2] <- q", scale = "e4m3[rows, cols / 16] <- scale" }
// accuracy = { form = "x / (scale / overall)", divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite" }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"
#include "../e2m1.cuh"

__global__ void nvfp4_warp(unsigned char *q, __nv_fp8_e4m3 *scale, const float *x, const float *overall, int cols) {
    // x is (rows, cols), q is (rows, cols / 2) bytes, scale is (rows, cols / 16); a lane an element
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1, then for a whole warp
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float value = x[i];
    const float amax = amax_of_lanes<largest, 16>(fabsf(value));
    const __nv_fp8_e4m3 stored(amax * *overall / 6.0f);
    if (col % 16 == 0) {
        scale[i / 16] = stored;
    }
    const float means = static_cast<float>(stored);
    const unsigned int mine = means == 0.0f ? 0u : e2m1_of(value / (means / *overall));
    const unsigned int next = __shfl_down_sync(0xffffffffu, mine, 1);
    if (col % 2 == 0) {
        q[i / 2] = static_cast<unsigned char>(mine | next << 4);
    }
}
