// C = X W with weights of uint4 less 8, eight along k in a word, and a scale for each 128 along k: GPTQ's layout, by columns.
//
// A thread makes an element and reads a word for eight products. Each weight is (w - 8) scale, rounded once, before it is
// multiplied.
//
// /// kernel
// op       = "weight_only_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = { min = 128, max = 65536, multiple = 128 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f16[m, k] -> x", w = "u4x8[k / 8, n] -> w, by columns", scale = "f16[k / 128, n] -> scale", c = "f16[m, n] <- c" }
// scalars  = { zero = 8 }
// accuracy = { adds = "k" }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cstdint>
#include <cuda_fp16.h>

__global__ void int4_words(__half *c, const __half *x, const uint32_t *w, const __half *scale, int n, int k) {
    // x is (m, k), w is (n, k / 8) words in memory, scale is (k / 128, n), c is (m, n)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    float sum = 0.0f;
    for (int word = 0; word < k / 8; ++word) {
        const float by = __half2float(scale[static_cast<size_t>(word / 16) * n + col]);
        const uint32_t packed = w[static_cast<size_t>(col) * (k / 8) + word];
        for (int i = 0; i < 8; ++i) {
            const float weight = static_cast<float>(static_cast<int>(packed >> 4 * i & 15u) - 8) * by;
            sum += __half2float(x[row * k + word * 8 + i]) * weight;
        }
    }
    c[row * n + col] = __float2half(sum);
}
