// Attention with keys and values of int8 and a scale for each head; a block a row of q, a warp a key, lanes along d.
//
// The scale of the keys multiplies finished scores, and that of the values finished answers: a product errs alike in any order of
// its factors. Scores lie in shared memory, and each answer is divided by their sum last.
//
// /// kernel
// op     = "narrow_kv_attention"
// axes   = { heads = "1..65535", keys = "1..8192", rows = "1..1048576", d = "1..1024", dv = "1..1024" }
// tune   = { threads = [32, 128, 256] }
// arrays = { q = "f32[heads, rows, d] -> q", k = "i8[heads, keys, d] -> k", v = "i8[heads, keys, dv] -> v", sk = "f32[heads, 1] -> scale_k", sv = "f32[heads, 1] -> scale_v", o = "f32[heads, rows, dv] <- o" }
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "ceil_div(d, 32) - 1 + 5", pv = "keys - 1", row = "ceil_div(keys, threads) - 1 + ceil_log2(min(keys, threads))" }
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// grid   = "rows, heads"
// block  = "threads"
// shared = "4 * keys"
// ///

#include <cstdint>

#include "../warp_and_block.cuh"

__global__ void attention_int8_kv(float *o, const float *q, const int8_t *k, const int8_t *v, const float *sk,
                                  const float *sv, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a block a row
    extern __shared__ float scores[];  // of all keys
    const size_t rows = gridDim.x, head = blockIdx.y, row = blockIdx.x;
    q += (head * rows + row) * d;
    k += head * keys * d;
    v += head * keys * dv;
    o += (head * rows + row) * dv;
    const float by_k = sk[head], by_v = sv[head];
    const float scale = 1.0f / sqrtf(static_cast<float>(d));

    for (int key = threadIdx.x / 32; key < keys; key += blockDim.x / 32) {
        float dot = 0.0f;
        for (int i = threadIdx.x % 32; i < d; i += 32) {
            dot += q[i] * static_cast<float>(k[static_cast<size_t>(key) * d + i]);
        }
        dot = warp_sum(dot);
        if (threadIdx.x % 32 == 0) {
            scores[key] = dot * scale * by_k;
        }
    }
    __syncthreads();  // the scores are complete
    float max = -INFINITY;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        max = fmaxf(max, scores[key]);
    }
    max = block_max(max);
    float sum = 0.0f;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {  // each thread those that it alone reads until the next barrier
        scores[key] = expf(scores[key] - max);
        sum += scores[key];
    }
    sum = block_sum(sum);  // has a barrier: the exps are complete
    for (int col = threadIdx.x; col < dv; col += blockDim.x) {
        float total = 0.0f;
        for (int key = 0; key < keys; ++key) {
            total += scores[key] * static_cast<float>(v[static_cast<size_t>(key) * dv + col]);
        }
        o[col] = total / sum * by_v;
    }
}
