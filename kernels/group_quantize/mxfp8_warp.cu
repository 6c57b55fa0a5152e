// mxfp8: e4m3 with a power of two, stored as e8m0, for each 32 neighbours; a lane an element, a warp a group.
//
// The scale is the least power of two that is not below amax / 448, found from the bits of that quotient, so that no element
// saturates. A power of two divides exactly: each element has one right code. Rows are a multiple of 32 long.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "e8m0[rows, cols / 32] <- scale" }
// scalars  = { group = 32, eps = 0 }
// accuracy = { divide = "ieee" }
// quantize = { scale = "power of two up", apply = "divide", saturate = "finite", zeros = "least" }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

__global__ void mxfp8_warp(__nv_fp8_e4m3 *q, __nv_fp8_e8m0 *scale, const float *x, int cols) {
    // q and x are (rows, cols), scale is (rows, cols / 32); a lane an element
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1, then for a whole warp
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float value = x[i];
    const unsigned int code = exponent_up(amax_of_lanes(fabsf(value)) / 448.0f);
    if (threadIdx.x % 32 == 0) {
        scale[i / 32].__x = static_cast<__nv_fp8_storage_t>(code);
    }
    q[i] = __nv_fp8_e4m3(value / power_of(code));
}
