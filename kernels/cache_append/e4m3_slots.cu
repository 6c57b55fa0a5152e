// x / scale as e4m3 into the slots of a key-value cache, one scale for all; a block a token, and a token without a slot of its own is not there.
//
// /// kernel
// op       = "cache_append"
// axes     = { slots = "1..1048576", dim = "1..65536", tokens = "1..65535" }
// tune     = { threads = [32, 128] }
// where    = ["tokens <= slots"]
// arrays   = { x = "f32[tokens, dim] -> x", slot = "i32[tokens] -> slot", scale = "f32[1] -> scale", cache = "e4m3[slots, dim] -> cache <- cache" }
// accuracy = { divide = "ieee" }
// quantize = { saturate = "finite" }
// launch   = [{ grid = "tokens", block = "threads" }]
// ///

#include <cuda_fp8.h>

__global__ void append_e4m3(__nv_fp8_e4m3 *cache, const float *x, const int *slot, const float *scale, int dim) {
    // cache is (slots, dim), x is (tokens, dim), slot is (tokens); a block a token
    const size_t to = static_cast<size_t>(slot[blockIdx.x]) * dim, from = static_cast<size_t>(blockIdx.x) * dim;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        cache[to + i] = __nv_fp8_e4m3(x[from + i] / *scale);
    }
}
