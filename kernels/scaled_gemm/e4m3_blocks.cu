// C = (A scale_a) (B scale_b) of e4m3, block-scaled: a scale for each 128 of a row of A, and for each 128 x 128 of B.
//
// The sum of each 128 products is multiplied by both scales and added to a float, as DeepSeek-V3 has it. The scales of A lie by
// columns. The last block of k may be shorter.
//
// /// kernel
// op       = "scaled_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = "1..65536" }
// tune     = { threads = [32, 128] }
// arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[m, ceil_div(k, 128)] -> scale_a, by columns", scale_b = "f32[ceil_div(k, 128), ceil_div(n, 128)] -> scale_b, by columns", c = "f32[m, n] <- c" }
// scalars  = { depth = 128, cols_of_b = 128 }
// accuracy = { adds = { k = "128", "*" = "ceil_div(k, 128)" } }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cuda_fp8.h>

constexpr int DEPTH = 128;

__global__ void e4m3_blocks(float *c, const __nv_fp8_e4m3 *a, const __nv_fp8_e4m3 *b, const float *scale_a, const float *scale_b,
                            int m, int n, int k) {
    // a is (m, k), b is (n, k), c is (m, n), scale_a is (blocks of k, m), scale_b is (blocks of n, blocks of k), all in memory
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    const int blocks = (k - 1) / DEPTH + 1;
    float total = 0.0f;
    for (int block = 0; block < blocks; ++block) {
        float sum = 0.0f;
        for (int i = block * DEPTH; i < min(k, (block + 1) * DEPTH); ++i) {
            sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[static_cast<size_t>(col) * k + i]);
        }
        total += sum * (scale_a[static_cast<size_t>(block) * m + row] * scale_b[static_cast<size_t>(col / DEPTH) * blocks + block]);
    }
    c[row * n + col] = total;
}
