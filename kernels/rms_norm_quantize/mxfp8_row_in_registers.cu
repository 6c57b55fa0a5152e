// RMS norm of each row, then mxfp8: e4m3 with a power of two for each 32 neighbours. A block a row, which it reads once, into registers.
//
// A thread has every `threads`-th element, up to eight of them, so that the lanes of a warp have a group together. A group beyond
// the row's end has no element, and its warp skips it.
//
// /// kernel
// op       = "rms_norm_quantize"
// axes     = { rows = "1..2147483647", cols = { min = 32, max = 8192, multiple = 32 } }
// tune     = { threads = [128, 512, 1024] }
// where    = ["cols <= 8 * threads"]
// arrays   = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", q = "e4m3[rows, cols] <- q", s = "e8m0[rows, cols / 32] <- scale" }
// scalars  = { group = 32, least = 0 }
// quantize = { scale = "power of two up", apply = "divide", saturate = "finite", zeros = "least" }
// values   = { range = [-1e15, 1e15] }
// launch   = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// adds      = "7 + ceil_log2(threads)"  # a thread's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"
#include "../warp_and_block.cuh"

constexpr int MOST = 8;  // elements of a thread

__global__ void rms_norm_mxfp8_registers(__nv_fp8_e4m3 *q, unsigned char *s, const float *x, const float *w, int cols) {
    // q and x are (rows, cols), w is (cols), s is (rows, cols / 32); a block a row
    const size_t first = static_cast<size_t>(blockIdx.x) * cols;
    float mine[MOST], sum = 0.0f;
    for (int k = 0; k < MOST; ++k) {
        const int col = k * blockDim.x + threadIdx.x;  // may pass cols - 1, then for a whole warp
        mine[k] = col < cols ? x[first + col] : 0.0f;
        sum += mine[k] * mine[k];
    }
    const float by = rsqrtf(block_sum(sum) / cols + 1e-6f);
    for (int k = 0; k < MOST; ++k) {
        const int col = k * blockDim.x + threadIdx.x;
        if (col >= cols) {
            break;
        }
        const float norm = mine[k] * by * w[col];
        const unsigned int code = exponent_up(amax_of_lanes(fabsf(norm)) / 448.0f);
        if (col % 32 == 0) {
            s[(first + col) / 32] = static_cast<unsigned char>(code);
        }
        q[first + col] = __nv_fp8_e4m3(norm / power_of(code));
    }
}
