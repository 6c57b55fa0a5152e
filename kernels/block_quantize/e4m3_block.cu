// e4m3 with a scale for each block of 128 x 128, the weights of a block-scaled product: a block of threads makes a block of the matrix.
//
// The last blocks of a row or of a column may be smaller. The elements are read twice.
//
// /// kernel
// op       = "block_quantize"
// axes     = { rows = "1..8388480", cols = "1..1048576" }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "f32[ceil_div(rows, 128), ceil_div(cols, 128)] <- scale" }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite", zeros = "eps" }
// launch   = [{ grid = "ceil_div(cols, 128), ceil_div(rows, 128)", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

constexpr int SIDE = 128;

__global__ void e4m3_block_quantize(__nv_fp8_e4m3 *q, float *scale, const float *x, int rows, int cols) {
    // q and x are (rows, cols), scale is (blocks of rows, blocks of cols)
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    const int high = min(SIDE, rows - top), wide = min(SIDE, cols - left);

    float amax = 0.0f;
    for (int i = threadIdx.x; i < high * wide; i += blockDim.x) {
        amax = fmaxf(amax, fabsf(x[static_cast<size_t>(top + i / wide) * cols + left + i % wide]));
    }
    const float by = fmaxf(amax_of_block(amax), 1e-10f) / 448.0f;
    if (threadIdx.x == 0) {
        scale[static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = by;
    }
    for (int i = threadIdx.x; i < high * wide; i += blockDim.x) {
        const size_t at = static_cast<size_t>(top + i / wide) * cols + left + i % wide;
        q[at] = __nv_fp8_e4m3(x[at] / by);
    }
}
