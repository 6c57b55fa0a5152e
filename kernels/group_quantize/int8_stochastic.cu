// int8 of each row with stochastic rounding: a quotient goes up with the probability of its distance from the integer below.
//
// The random bits are a hash of the element's number and a seed, 24 of them, so that the same seed gives the same codes. Either
// neighbour is right; only over many elements does a bias show.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
// scalars  = { group = "cols" }
// random   = { seed = "seed" }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", round = "stochastic", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "rows", block = "threads" }]
// ///

#include <cstdint>

#include "../amax.cuh"

__device__ __forceinline__ float uniform(uint32_t number, uint32_t seed) {
    // in [0, 1), by the finisher of MurmurHash3
    uint32_t h = number * 0x9e3779b9u + seed;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return static_cast<float>((h ^ h >> 16) >> 8) * 0x1p-24f;
}

__global__ void int8_stochastic(int8_t *q, float *scale, const float *x, int cols, uint32_t seed) {
    // q and x are (rows, cols), scale is (rows); a block a row
    const size_t first = static_cast<size_t>(blockIdx.x) * cols;
    float amax = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        amax = fmaxf(amax, fabsf(x[first + col]));
    }
    const float by = fmaxf(amax_of_block(amax), 1e-10f) / 127.0f;
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = by;
    }
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        const float t = x[first + col] / by, below = floorf(t);
        const float up = uniform(static_cast<uint32_t>(first + col), seed) < t - below ? 1.0f : 0.0f;
        q[first + col] = static_cast<int8_t>(fminf(fmaxf(below + up, -127.0f), 127.0f));
    }
}
