// Attention with keys and values of e4m3 and a scale for each token, in two passes by a warp: the maximum of all scores, then the sums.
//
// A score is computed twice, alike, and never stored, so that any number of keys fits. Nothing is rescaled. A lane has every 32nd
// key, and its own columns of v.
//
// /// kernel
// op      = "narrow_kv_attention"
// axes    = { heads = "1..65535", rows = "1..1048576", keys = "1..1048576", d = "1..256", dv = "1..128" }
// tune    = { threads = [32, 128] }
// arrays  = { q = "f32[heads, rows, d] -> q", k = "e4m3[heads, keys, d] -> k", v = "e4m3[heads, keys, dv] -> v", sk = "f32[heads, keys] -> scale_k", sv = "f32[heads, keys] -> scale_v", o = "f32[heads, rows, dv] <- o" }
// scalars = { keys_together = 1 }
// launch  = [{ grid = "ceil_div(rows, threads / 32), heads", block = "threads" }]
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", pv = "keys - 1", row = "ceil_div(keys, 32) - 1 + ceil_log2(min(keys, 32))" }
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
// ///

#include <cuda_fp8.h>

#include "../warp_and_block.cuh"

__device__ float score_of(const float *q, const __nv_fp8_e4m3 *k, int d, float by) {
    float dot = 0.0f;
    for (int i = 0; i < d; ++i) {
        dot += q[i] * static_cast<float>(k[i]);
    }
    return dot * by;
}

__global__ void attention_e4m3_two_pass(float *o, const float *q, const __nv_fp8_e4m3 *k, const __nv_fp8_e4m3 *v, const float *sk,
                                        const float *sv, int rows, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv), sk and sv are (heads, keys)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t head = blockIdx.y, row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;  // the whole warp together
    }
    q += (head * rows + row) * d;
    k += head * keys * d;
    v += head * keys * dv;
    sk += head * keys;
    sv += head * keys;
    o += (head * rows + row) * dv;
    const float scale = 1.0f / sqrtf(static_cast<float>(d));

    float max = -INFINITY;
    for (int key = lane; key < keys; key += 32) {
        max = fmaxf(max, score_of(q, k + static_cast<size_t>(key) * d, d, scale * sk[key]));
    }
    max = warp_max(max);
    float sum = 0.0f, total[4] = {};
    for (int start = 0; start < keys; start += 32) {
        const int key = start + lane;  // may pass keys - 1
        const float e = key < keys ? expf(score_of(q, k + static_cast<size_t>(key) * d, d, scale * sk[key]) - max) : 0.0f;
        const float weight = key < keys ? e * sv[key] : 0.0f;
        sum += e;
        for (int j = 0; j < min(keys - start, 32); ++j) {
            const float of_key = __shfl_sync(0xffffffffu, weight, j);
            for (int part = 0, col = lane; col < dv; ++part, col += 32) {
                total[part] += of_key * static_cast<float>(v[static_cast<size_t>(start + j) * dv + col]);
            }
        }
    }
    sum = warp_sum(sum);
    for (int part = 0, col = lane; col < dv; ++part, col += 32) {
        o[col] = total[part] / sum;
    }
}
