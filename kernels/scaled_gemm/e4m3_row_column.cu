// C = (A scale_a) (B scale_b) of e4m3, rowwise: a scale for each row of A and column of B; sums of floats, into bfloat16.
//
// A product of two e4m3 has 8 digits and is exact. A thread makes an element; B lies by columns, as weights do.
//
// /// kernel
// op       = "scaled_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = "1..65536" }
// tune     = { threads = [32, 128, 256] }
// arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[m, 1] -> scale_a", scale_b = "f32[1, n] -> scale_b", c = "bf16[m, n] <- c" }
// accuracy = { adds = "k" }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

__global__ void e4m3_row_column(__nv_bfloat16 *c, const __nv_fp8_e4m3 *a, const __nv_fp8_e4m3 *b, const float *scale_a,
                                const float *scale_b, int n, int k) {
    // a is (m, k), b is (n, k) in memory, c is (m, n), scale_a is (m), scale_b is (n)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[static_cast<size_t>(col) * k + i]);
    }
    c[row * n + col] = __float2bfloat16(sum * scale_a[row] * scale_b[col]);
}
