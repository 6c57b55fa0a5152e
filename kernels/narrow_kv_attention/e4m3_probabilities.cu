// Attention with keys and values of e4m3 whose probabilities are e4m3, too, as products by tensor cores of 8 bits need them.
//
// An exp is at most 1; 256 times it is rounded to e4m3, and the sum of all is that of the exps before rounding. One scale for all
// keys, and one for all values; a block makes a row of q.
//
// /// kernel
// op      = "narrow_kv_attention"
// axes    = { heads = "1..65535", keys = "1..8192", rows = "1..1048576", d = "1..1024", dv = "1..1024" }
// tune    = { threads = [32, 128] }
// arrays  = { q = "f32[heads, rows, d] -> q", k = "e4m3[heads, keys, d] -> k", v = "e4m3[heads, keys, dv] -> v", sk = "f32[1, 1] -> scale_k", sv = "f32[1, 1] -> scale_v", o = "f32[heads, rows, dv] <- o" }
// scalars = { heads_together = "heads" }
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", pv = "keys - 1", row = "ceil_div(keys, threads) - 1 + ceil_log2(min(keys, threads))" }
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
// keep     = { e = "e4m3" }
//
// [[launch]]
// grid   = "rows, heads"
// block  = "threads"
// shared = "4 * keys + keys"
// ///

#include <cuda_fp8.h>

#include "../warp_and_block.cuh"

constexpr float SCALE_OF_P = 256.0f;

__global__ void attention_e4m3_probabilities(float *o, const float *q, const __nv_fp8_e4m3 *k, const __nv_fp8_e4m3 *v,
                                             const float *sk, const float *sv, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a block a row
    extern __shared__ float scores[];  // (keys), then (keys) codes of probabilities
    __nv_fp8_e4m3 *p = reinterpret_cast<__nv_fp8_e4m3 *>(scores + keys);
    const size_t rows = gridDim.x, head = blockIdx.y, row = blockIdx.x;
    q += (head * rows + row) * d;
    k += head * keys * d;
    v += head * keys * dv;
    o += (head * rows + row) * dv;
    const float scale = *sk / sqrtf(static_cast<float>(d));

    float max = -INFINITY;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        float dot = 0.0f;
        for (int i = 0; i < d; ++i) {
            dot += q[i] * static_cast<float>(k[static_cast<size_t>(key) * d + i]);
        }
        scores[key] = dot * scale;
        max = fmaxf(max, scores[key]);
    }
    max = block_max(max);
    float sum = 0.0f;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {  // each thread those that it has written
        const float e = expf(scores[key] - max);
        p[key] = __nv_fp8_e4m3(e * SCALE_OF_P);
        sum += e;
    }
    sum = block_sum(sum) * SCALE_OF_P;  // has a barrier: the probabilities are complete
    for (int col = threadIdx.x; col < dv; col += blockDim.x) {
        float total = 0.0f;
        for (int key = 0; key < keys; ++key) {
            total += static_cast<float>(p[key]) * static_cast<float>(v[static_cast<size_t>(key) * dv + col]);
        }
        o[col] = total / sum * *sv;
    }
}
