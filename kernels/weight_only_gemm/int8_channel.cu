// C = X W with weights of int8 and a scale for each column: the scale multiplies the finished sum, or here each weight before it.
//
// A thread makes an element; neighbours read neighbouring weights.
//
// /// kernel
// op       = "weight_only_gemm"
// axes     = { m = "1..65535", n = "1..1048576", k = "1..65536" }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[m, k] -> x", w = "i8[k, n] -> w", scale = "f32[1, n] -> scale", c = "f32[m, n] <- c" }
// scalars  = { depth = "k" }
// accuracy = { adds = "k" }
// launch   = [{ grid = "ceil_div(n, threads), m", block = "threads" }]
// ///

#include <cstdint>

__global__ void int8_channel(float *c, const float *x, const int8_t *w, const float *scale, int n, int k) {
    // x is (m, k), w is (k, n), scale is (n), c is (m, n)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;
    }
    const float by = scale[col];
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += x[row * k + i] * (static_cast<float>(w[static_cast<size_t>(i) * n + col]) * by);
    }
    c[row * n + col] = sum;
}
