// Attention with keys and values of e4m3, 16 codes a load, and one scale for each of them; queries and answers are bfloat16.
//
// A block makes a row of q, a thread a key. Probabilities in shared memory then weigh v, of which a thread has 16 columns and every
// key; a thread without columns only waits. The block has as many threads as there may be groups of columns.
//
// /// kernel
// op      = "narrow_kv_attention"
// axes    = { heads = "1..65535", keys = "1..8192", rows = "1..1048576", d = { min = 16, max = 1024, multiple = 16 }, dv = { min = 16, max = 512, multiple = 16 } }
// tune    = { threads = [32, 128] }
// arrays  = { q = "bf16[heads, rows, d] -> q", k = "e4m3[heads, keys, d] -> k", v = "e4m3[heads, keys, dv] -> v", sk = "f32[1, 1] -> scale_k", sv = "f32[1, 1] -> scale_v", o = "bf16[heads, rows, dv] <- o" }
// scalars = { heads_together = "heads" }
// align   = 16
//
// [accuracy]
// form     = "normalize first"
// adds     = { qk = "d - 1", pv = "keys - 1", row = "ceil_div(keys, threads) - 1 + ceil_log2(min(keys, threads))" }
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// grid   = "rows, heads"
// block  = "threads"
// shared = "4 * keys"
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "../warp_and_block.cuh"

struct alignas(16) Codes {
    __nv_fp8_e4m3 of[16];
};

__global__ void attention_e4m3_vec16(__nv_bfloat16 *o, const __nv_bfloat16 *q, const __nv_fp8_e4m3 *k, const __nv_fp8_e4m3 *v,
                                     const float *sk, const float *sv, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a block a row
    extern __shared__ float scores[];  // of all keys
    const size_t rows = gridDim.x, head = blockIdx.y, row = blockIdx.x;
    q += (head * rows + row) * d;
    o += (head * rows + row) * dv;
    const Codes *of_k = reinterpret_cast<const Codes *>(k + head * keys * d);
    const Codes *of_v = reinterpret_cast<const Codes *>(v + head * keys * dv);
    const float scale = *sk / sqrtf(static_cast<float>(d));

    float max = -INFINITY;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        float dot = 0.0f;
        for (int group = 0; group < d / 16; ++group) {
            const Codes some = of_k[static_cast<size_t>(key) * (d / 16) + group];
            for (int i = 0; i < 16; ++i) {
                dot += __bfloat162float(q[group * 16 + i]) * static_cast<float>(some.of[i]);
            }
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
    const float inverse = *sv / block_sum(sum);  // has a barrier: the exps are complete
    for (int group = threadIdx.x; group < dv / 16; group += blockDim.x) {
        float total[16] = {};
        for (int key = 0; key < keys; ++key) {
            const Codes some = of_v[static_cast<size_t>(key) * (dv / 16) + group];
            const float weight = scores[key] * inverse;
            for (int i = 0; i < 16; ++i) {
                total[i] += weight * static_cast<float>(some.of[i]);
            }
        }
        for (int i = 0; i < 16; ++i) {
            o[group * 16 + i] = __float2bfloat16(total[i]);
        }
    }
}
