// C = overall (A scale_a) (B scale_b) of nvfp4: e2m1, two in a byte along k, with a scale of e4m3 for each 16 and one float over all.
//
// The sum of 16 products of e2m1 is exact in float, and so is the product of two scales of e4m3. The float over all multiplies the
// finished sum, once. A thread makes an element, and B lies by columns.
//
// /// kernel
// op       = "two_level_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = { min = 16, max = 65536, multiple = 16 } }
// tune     = { threads = [32, 128] }
// arrays   = { a = "e2m1x2[m, k / 2] -> a", b = "e2m1x2[k / 2, n] -> b, by columns", scale_a = "e4m3[m, k / 16] -> scale_a", scale_b = "e4m3[k / 16, n] -> scale_b, by columns", overall = "f32[1] -> overall", c = "bf16[m, n] <- c" }
// accuracy = { form = "overall last", adds = { k = "16", "*" = "k / 16" } }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "../e2m1.cuh"

__global__ void nvfp4_blocks(__nv_bfloat16 *c, const unsigned char *a, const unsigned char *b, const __nv_fp8_e4m3 *scale_a,
                             const __nv_fp8_e4m3 *scale_b, const float *overall, int n, int k) {
    // a is (m, k / 2) bytes, b is (n, k / 2), scale_a is (m, k / 16), scale_b is (n, k / 16), c is (m, n), all in memory
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    a += row * (k / 2);
    b += static_cast<size_t>(col) * (k / 2);
    scale_a += row * (k / 16);
    scale_b += static_cast<size_t>(col) * (k / 16);
    float total = 0.0f;
    for (int block = 0; block < k / 16; ++block) {
        float sum = 0.0f;
        for (int i = block * 8; i < block * 8 + 8; ++i) {
            sum += number_of_e2m1(a[i]) * number_of_e2m1(b[i]);
            sum += number_of_e2m1(a[i] >> 4) * number_of_e2m1(b[i] >> 4);
        }
        total += sum * (static_cast<float>(scale_a[block]) * static_cast<float>(scale_b[block]));
    }
    c[row * n + col] = __float2bfloat16(total * *overall);
}
