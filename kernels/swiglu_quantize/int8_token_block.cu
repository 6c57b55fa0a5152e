// silu(a) b, then int8 with one scale a row: a block a row; products are made twice, for amax and for the codes.
//
// /// kernel
// op       = "swiglu_quantize"
// axes     = { rows = "1..2147483647", cols = "1..1048576" }
// tune     = { threads = [32, 128, 512] }
// arrays   = { a = "f32[rows, cols] -> a", b = "f32[rows, cols] -> b", q = "i8[rows, cols] <- q", s = "f32[rows, 1] <- scale" }
// scalars  = { group = "cols" }
// accuracy = { exp = "expf", divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "rows", block = "threads" }]
// ///

#include <cstdint>

#include "../amax.cuh"

__device__ __forceinline__ float gated(float a, float b) {
    return a / (1.0f + expf(-a)) * b;
}

__global__ void swiglu_int8_token_block(int8_t *q, float *s, const float *a, const float *b, int cols) {
    // q, a and b are (rows, cols), s is (rows); a block a row
    const size_t first = static_cast<size_t>(blockIdx.x) * cols;
    float amax = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        amax = fmaxf(amax, fabsf(gated(a[first + col], b[first + col])));
    }
    const float by = fmaxf(amax_of_block(amax), 1e-10f) / 127.0f;
    if (threadIdx.x == 0) {
        s[blockIdx.x] = by;
    }
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        q[first + col] = static_cast<int8_t>(rintf(gated(a[first + col], b[first + col]) / by));
    }
}
