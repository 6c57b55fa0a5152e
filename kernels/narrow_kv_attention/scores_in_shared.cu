// Attention by the definition with keys and values of e4m3 and a scale for each head; one block for a row of q.
//
// A key is widened as it is read, and the scale multiplies each of its elements: (k scale) q, and not (k q) scale, which rounds
// elsewhere. Scores in shared memory become probabilities there, then weigh v.
//
// /// kernel
// op     = "narrow_kv_attention"
// axes   = { heads = "1..65535", keys = "1..8192", rows = "1..1048576", d = "1..1024", dv = "1..1024" }
// tune   = { threads = [32, 128, 256] }
// arrays = { q = "f32[heads, rows, d] -> q", k = "e4m3[heads, keys, d] -> k", v = "e4m3[heads, keys, dv] -> v", sk = "f32[heads, 1] -> scale_k", sv = "f32[heads, 1] -> scale_v", o = "f32[heads, rows, dv] <- o" }
//
// [accuracy]
// form     = "normalize first"
// adds     = { qk = "d - 1", pv = "keys - 1", row = "ceil_div(keys, threads) - 1 + ceil_log2(min(keys, threads))" }
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// grid   = "rows, heads"
// block  = "threads"
// shared = "4 * keys"
// ///

#include <cuda_fp8.h>

#include "../warp_and_block.cuh"

__global__ void attention_e4m3_kv(float *o, const float *q, const __nv_fp8_e4m3 *k, const __nv_fp8_e4m3 *v, const float *sk,
                                  const float *sv, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a block a row
    extern __shared__ float scores[];  // of all keys
    const size_t rows = gridDim.x, head = blockIdx.y, row = blockIdx.x;
    q += (head * rows + row) * d;
    k += head * keys * d;
    v += head * keys * dv;
    o += (head * rows + row) * dv;
    const float scale = 1.0f / sqrtf(static_cast<float>(d)), by_k = sk[head], by_v = sv[head];

    float max = -INFINITY;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        float dot = 0.0f;
        for (int i = 0; i < d; ++i) {
            dot += q[i] * (static_cast<float>(k[static_cast<size_t>(key) * d + i]) * by_k);
        }
        scores[key] = dot * scale;
        max = fmaxf(max, scores[key]);
    }
    max = block_max(max);
    float sum = 0.0f;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {  // each thread those that it has written
        scores[key] = expf(scores[key] - max);
        sum += scores[key];
    }
    sum = block_sum(sum);
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        scores[key] /= sum;
    }
    __syncthreads();  // the probabilities are complete
    for (int col = threadIdx.x; col < dv; col += blockDim.x) {
        float total = 0.0f;
        for (int key = 0; key < keys; ++key) {
            total += scores[key] * (static_cast<float>(v[static_cast<size_t>(key) * dv + col]) * by_v);
        }
        o[col] = total;
    }
}
