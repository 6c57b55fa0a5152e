// C = A B of mxfp8: e4m3 with a power of two for each 32 along k, of A by rows and of B by columns; each block's sum is scaled, then added.
//
// The two powers are multiplied as one: exponents add up, and a product of powers of two is exact unless it leaves the floats.
//
// /// kernel
// op       = "scaled_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = { min = 32, max = 65536, multiple = 32 } }
// tune     = { threads = [32, 128] }
// arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "e8m0[m, k / 32] -> scale_a", scale_b = "e8m0[k / 32, n] -> scale_b, by columns", c = "f32[m, n] <- c" }
// scalars  = { depth = 32 }
// accuracy = { adds = { k = "32", "*" = "k / 32" } }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

__global__ void mxfp8_blocks(float *c, const __nv_fp8_e4m3 *a, const __nv_fp8_e4m3 *b, const unsigned char *scale_a,
                             const unsigned char *scale_b, int n, int k) {
    // a is (m, k), b is (n, k), scale_a is (m, k / 32), scale_b is (n, k / 32), c is (m, n), all in memory
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    float total = 0.0f;
    for (int block = 0; block < k / 32; ++block) {
        float sum = 0.0f;
        for (int i = block * 32; i < block * 32 + 32; ++i) {
            sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[static_cast<size_t>(col) * k + i]);
        }
        const float by_a = power_of(scale_a[row * (k / 32) + block]);
        const float by_b = power_of(scale_b[static_cast<size_t>(col) * (k / 32) + block]);
        total += sum * (by_a * by_b);
    }
    c[row * n + col] = total;
}
