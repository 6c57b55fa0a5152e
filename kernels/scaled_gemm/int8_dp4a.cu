// C = (A scale_a) (B scale_b) of int8 with a scale for each row of A and column of B; a thread an element, four products an instruction.
//
// Sums of 32-bit integers are exact while k is below 131072; then the sum is rounded to float once, and multiplied twice. B lies by
// columns, so that four neighbours along k are one word; k is a multiple of four.
//
// /// kernel
// op       = "scaled_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = { min = 4, max = 131068, multiple = 4 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { a = "i8[m, k] -> a", b = "i8[k, n] -> b, by columns", scale_a = "f32[m, 1] -> scale_a", scale_b = "f32[1, n] -> scale_b", c = "f32[m, n] <- c" }
// align    = 4
// accuracy = { accumulate = "i32" }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cstdint>

__global__ void int8_dp4a(float *c, const int8_t *a, const int8_t *b, const float *scale_a, const float *scale_b, int n, int k) {
    // a is (m, k), b is (n, k) in memory, c is (m, n), scale_a is (m), scale_b is (n)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    const int *of_a = reinterpret_cast<const int *>(a + row * k);
    const int *of_b = reinterpret_cast<const int *>(b + static_cast<size_t>(col) * k);
    int sum = 0;
    for (int i = 0; i < k / 4; ++i) {
        sum = __dp4a(of_a[i], of_b[i], sum);
    }
    c[row * n + col] = static_cast<float>(sum) * (scale_a[row] * scale_b[col]);
}
