// C = scale_a scale_b A B of int8 with one scale for each matrix; a warp an element: lanes add shares along k, then shuffles.
//
// Integers add up exactly in any order, so that the answer does not depend on the number of lanes.
//
// /// kernel
// op       = "scaled_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = "1..131071" }
// tune     = { threads = [32, 128] }
// arrays   = { a = "i8[m, k] -> a", b = "i8[k, n] -> b", scale_a = "f32[1, 1] -> scale_a", scale_b = "f32[1, 1] -> scale_b", c = "f32[m, n] <- c" }
// scalars  = { rows_of_a = "m", cols_of_b = "n" }
// accuracy = { accumulate = "i32" }
// launch   = [{ grid = "ceil_div(n, threads / 32), m", block = "threads" }]
// ///

#include <cstdint>

__global__ void int8_warp_tensor(float *c, const int8_t *a, const int8_t *b, const float *scale_a, const float *scale_b, int n,
                                 int k) {
    // a is (m, k), b is (k, n), c is (m, n); a warp an element
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) / 32;  // may pass n - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;  // the whole warp together
    }
    int sum = 0;
    for (int i = lane; i < k; i += 32) {
        sum += a[row * k + i] * b[static_cast<size_t>(i) * n + col];
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    if (lane == 0) {
        c[row * n + col] = static_cast<float>(sum) * (*scale_a * *scale_b);
    }
}
