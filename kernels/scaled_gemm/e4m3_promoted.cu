// C = (A scale_a) (B scale_b) of e4m3 with the sums of Hopper's wgmma, in plain arithmetic, and promoted: each 128 products join a float.
//
// Such a tensor core adds 32 products and the sum so far at once. It cuts each of them, toward zero, 13 bits below the largest
// exponent, and keeps 14 digits of the sum. DeepSeek-V3's kernels add it to a float every 128 products, before it loses more. A
// thread makes an element of C as the tensor core does, bit by bit; B lies by columns.
//
// /// kernel
// op       = "scaled_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = { min = 32, max = 65536, multiple = 32 } }
// tune     = { threads = [32, 128] }
// arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[m, 1] -> scale_a", scale_b = "f32[1, n] -> scale_b", c = "f32[m, n] <- c" }
// accuracy = { accumulate = "mma fp8", promote = 128 }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cuda_fp8.h>

constexpr int TOGETHER = 32, KEPT = 13, DIGITS = 14, PROMOTED = 128;

__device__ __forceinline__ int exponent_of(float x, int least) {
    // the exponent of a number other than 0; a denormal of its type has that of the least normal number
    return max(static_cast<int>(__float_as_uint(x) >> 23 & 255u) - 127, least);
}

__device__ __forceinline__ float power_of_two(int exponent) {
    return __uint_as_float(static_cast<unsigned int>(exponent + 127) << 23);
}

__device__ __forceinline__ float cut(float x, int last) {
    // toward zero, to a multiple of 2^last
    return truncf(x * power_of_two(-last)) * power_of_two(last);
}

__device__ float add_step(float run, const __nv_fp8_e4m3 *a, const __nv_fp8_e4m3 *b) {
    // one step of the tensor core: a product with 0 does not count
    int top = run == 0.0f ? -12 : exponent_of(run, -12);  // -12 is that of the least product
    for (int i = 0; i < TOGETHER; ++i) {
        const float x = static_cast<float>(a[i]), y = static_cast<float>(b[i]);
        if (x * y != 0.0f) {
            top = max(top, exponent_of(x, -6) + exponent_of(y, -6));
        }
    }
    float sum = cut(run, top - KEPT);
    for (int i = 0; i < TOGETHER; ++i) {
        sum += cut(static_cast<float>(a[i]) * static_cast<float>(b[i]), top - KEPT);  // exact: 21 bits hold the sum
    }
    return sum == 0.0f ? 0.0f : cut(sum, exponent_of(sum, -126) + 1 - DIGITS);
}

__global__ void e4m3_promoted(float *c, const __nv_fp8_e4m3 *a, const __nv_fp8_e4m3 *b, const float *scale_a,
                              const float *scale_b, int n, int k) {
    // a is (m, k), b is (n, k) in memory, c is (m, n), scale_a is (m), scale_b is (n)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    a += row * k;
    b += static_cast<size_t>(col) * k;
    float total = 0.0f, run = 0.0f;
    for (int i = 0; i < k; i += TOGETHER) {
        run = add_step(run, a + i, b + i);
        if ((i + TOGETHER) % PROMOTED == 0) {
            total += run;
            run = 0.0f;
        }
    }
    total += run;
    c[row * n + col] = total * scale_a[row] * scale_b[col];
}
