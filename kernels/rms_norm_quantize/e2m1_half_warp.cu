// RMS norm of each row, then e2m1, two in a byte, with a scale of e4m3 for each 16 neighbours: nvfp4 without a scale over all.
//
// A block makes a row in two passes. In the second, 16 lanes have a group, and a lane takes its neighbour's code into its byte. A
// scale of 0 belongs to a group of zeros, or of numbers so small that they become zeros.
//
// /// kernel
// op       = "rms_norm_quantize"
// axes     = { rows = "1..2147483647", cols = { min = 32, max = 1048576, multiple = 32 } }
// tune     = { threads = [32, 128, 512] }
// arrays   = { x = "f16[rows, cols] -> x", w = "f16[cols] -> w", q = "e2m1x2[rows, cols / 2] <- q", s = "e4m3[rows, cols / 16] <- scale" }
// scalars  = { group = 16, least = 0 }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite", zeros = "zero" }
// launch   = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// adds      = "ceil_div(cols, threads) - 1 + 10"  # a thread's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../amax.cuh"
#include "../e2m1.cuh"
#include "../warp_and_block.cuh"

__global__ void rms_norm_e2m1_half_warp(unsigned char *q, __nv_fp8_e4m3 *s, const __half *x, const __half *w, int cols) {
    // q is (rows, cols / 2) bytes, s is (rows, cols / 16), x is (rows, cols), w is (cols); a block a row
    const size_t first = static_cast<size_t>(blockIdx.x) * cols;
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        const float value = __half2float(x[first + col]);
        sum += value * value;
    }
    const float by = rsqrtf(block_sum(sum) / cols + 1e-6f);
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {  // a whole warp goes on, or none of it
        const float norm = __half2float(x[first + col]) * by * __half2float(w[col]);
        const __nv_fp8_e4m3 stored(amax_of_lanes<largest, 16>(fabsf(norm)) / 6.0f);
        if (col % 16 == 0) {
            s[(first + col) / 16] = stored;
        }
        const float means = static_cast<float>(stored);
        const unsigned int mine = means == 0.0f ? 0u : e2m1_of(norm / means);
        const unsigned int next = __shfl_down_sync(0xffffffffu, mine, 1);
        if (col % 2 == 0) {
            q[(first + col) / 2] = static_cast<unsigned char>(mine | next << 4);
        }
    }
}
