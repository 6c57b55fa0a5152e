// C = overall (A scale_a) (B scale_b) of nvfp4 in words of eight e2m1, with scales in tiles of 128 x 4, as tensor cores read them.
//
// A warp makes an element: a lane has every 32nd block of 16 along k, two words of each matrix. The float over all joins the scales
// of a block, so that each block is rounded by itself. What pads the tiles of scales is never used.
//
// /// kernel
// op       = "two_level_gemm"
// axes     = { m = "1..65535", n = "1..65535", k = { min = 16, max = 65536, multiple = 16 } }
// tune     = { threads = [32, 128] }
// arrays   = { a = "e2m1x8[m, k / 8] -> a", b = "e2m1x8[k / 8, n] -> b, by columns", scale_a = "e4m3[m, k / 16] -> scale_a, tiles 128x4", scale_b = "e4m3[k / 16, n] -> scale_b, by columns", overall = "f32[1] -> overall", c = "f32[m, n] <- c" }
// accuracy = { form = "overall in each block", adds = { k = "16", "*" = "ceil_div(k / 16, 32) - 1 + 5" } }
// launch   = [{ grid = "ceil_div(n, threads / 32), m", block = "threads" }]
// ///

#include <cstdint>
#include <cuda_fp8.h>

#include "../e2m1.cuh"

__device__ __forceinline__ float sum_of_eight(uint32_t a, uint32_t b) {
    // products of the eight pairs of two words, whose sum is exact
    float sum = 0.0f;
    for (int i = 0; i < 8; ++i) {
        sum += number_of_e2m1(a >> 4 * i) * number_of_e2m1(b >> 4 * i);
    }
    return sum;
}

__global__ void nvfp4_words_tiles(float *c, const uint32_t *a, const uint32_t *b, const __nv_fp8_e4m3 *scale_a,
                                  const __nv_fp8_e4m3 *scale_b, const float *overall, int n, int k) {
    // a is (m, k / 8) words, b is (n, k / 8), scale_a is (m, k / 16) in tiles, scale_b is (n, k / 16), c is (m, n); a warp an element
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) / 32;  // may pass n - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;  // the whole warp together
    }
    const int blocks = k / 16;
    a += row * (k / 8);
    b += static_cast<size_t>(col) * (k / 8);
    scale_b += static_cast<size_t>(col) * blocks;
    float total = 0.0f;
    for (int block = lane; block < blocks; block += 32) {
        const size_t tile = row / 128 * ((blocks + 3) / 4) + block / 4;
        const float by_a = static_cast<float>(scale_a[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4]);
        const float sum = sum_of_eight(a[2 * block], b[2 * block]) + sum_of_eight(a[2 * block + 1], b[2 * block + 1]);
        total += sum * (by_a * *overall * static_cast<float>(scale_b[block]));
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        total += __shfl_xor_sync(0xffffffffu, total, mask);
    }
    if (lane == 0) {
        c[row * n + col] = total;
    }
}
