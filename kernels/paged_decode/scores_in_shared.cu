// Attention of one query a sequence over the pages of a cache, one block a sequence and head: scores in shared memory.
//
// The pages of a sequence may lie anywhere in the cache, and its last page may be full or not: what lies behind its last key
// is neither read nor multiplied by 0. A sequence without a page gives zeros.
//
// /// kernel
// op   = "paged_decode"
// axes = { batch = "1..65535", heads = "1..256", used = "0..256", slots = "1..65536", page = [1, 4, 16], d = "1..256", dv = "1..256" }
// tune = { threads = [32, 128] }
//
// [arrays]
// q     = "f32[batch, heads, d] -> q"
// k     = "f32[slots, page, heads, d] -> k"
// v     = "f32[slots, page, heads, dv] -> v"
// first = "i32[batch + 1] -> first"
// pages = "i32[used] -> pages"
// last  = "i32[batch] -> last"
// o     = "f32[batch, heads, dv] <- o"
//
// [accuracy]
// form     = "divide last"
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// grid   = "heads, batch"
// block  = "threads"
// shared = "4 * max(used, 1) * page"
// ///

#include "../warp_and_block.cuh"

__global__ void paged_decode(float *o, const float *q, const float *k, const float *v, const int *first,
                             const int *pages, const int *last, int page, int d, int dv) {
    // o is (batch, heads, dv), q is (batch, heads, d), k is (slots, page, heads, d), v is (slots, page, heads, dv)
    extern __shared__ float scores[];  // of the sequence's keys
    const size_t heads = gridDim.x, head = blockIdx.x, sequence = blockIdx.y;
    const int begin = first[sequence], used = first[sequence + 1] - begin;
    const int keys = used > 0 ? (used - 1) * page + last[sequence] : 0;
    const auto place = [=](int key) {
        return (static_cast<size_t>(pages[begin + key / page]) * page + key % page) * heads + head;
    };
    q += (sequence * heads + head) * d;
    o += (sequence * heads + head) * dv;
    const float scale = 1.0f / sqrtf(static_cast<float>(d));

    float max = -INFINITY;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        float dot = 0.0f;
        for (int i = 0; i < d; ++i) {
            dot += q[i] * k[place(key) * d + i];
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
    __syncthreads();  // the scores are complete
    for (int col = threadIdx.x; col < dv; col += blockDim.x) {
        float total = 0.0f;
        for (int key = 0; key < keys; ++key) {
            total += scores[key] * v[place(key) * dv + col];
        }
        o[col] = keys > 0 ? total / sum : 0.0f;
    }
}
