// FlashAttention with keys and values of int4, two in a byte, and a scale for each token; a warp a row of q.
//
// The first of two neighbours is the low nibble. A shift up and an arithmetic shift down keep the sign of a nibble.
//
// /// kernel
// op      = "narrow_kv_attention"
// axes    = { heads = "1..65535", rows = "1..1048576", keys = "1..1048576", d = { min = 2, max = 256, multiple = 2 }, dv = { min = 2, max = 128, multiple = 2 } }
// tune    = { threads = [32, 128] }
// arrays  = { q = "f32[heads, rows, d] -> q", k = "i4x2[heads, keys, d / 2] -> k", v = "i4x2[heads, keys, dv / 2] -> v", sk = "f16[heads, keys] -> scale_k", sv = "f16[heads, keys] -> scale_v", o = "f32[heads, rows, dv] <- o" }
// scalars = { keys_together = 1 }
// launch  = [{ grid = "ceil_div(rows, threads / 32), heads", block = "threads" }]
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", pv = "keys - 1", row = "ceil_div(keys, 32) - 1 + ceil_log2(min(keys, 32))" }
// rescales = "ceil_div(keys, 32) - 1"  # each tile those before it
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
// ///

#include <cstdint>
#include <cuda_fp16.h>

#include "../flash.cuh"

__device__ __forceinline__ float int4_of(const uint8_t *pairs, int place) {
    // the element at this place of a row of pairs
    return static_cast<float>(static_cast<int8_t>(pairs[place / 2] >> place % 2 * 4 << 4) >> 4);
}

__global__ void attention_int4_pairs(float *o, const float *q, const uint8_t *k, const uint8_t *v, const __half *sk,
                                     const __half *sv, int rows, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d / 2) bytes, v is (heads, keys, dv / 2); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t head = blockIdx.y, row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;  // the whole warp together
    }
    q += (head * rows + row) * d;
    k += head * keys * (d / 2);
    v += head * keys * (dv / 2);
    sk += head * keys;
    sv += head * keys;
    o += (head * rows + row) * dv;
    const float scale = 1.0f / sqrtf(static_cast<float>(d));

    FlashRow<128> mine;
    for (int start = 0; start < keys; start += 32) {
        float score = -INFINITY;
        if (start + lane < keys) {
            float dot = 0.0f;
            for (int i = 0; i < d; ++i) {
                dot += q[i] * int4_of(k + static_cast<size_t>(start + lane) * (d / 2), i);
            }
            score = dot * (scale * __half2float(sk[start + lane]));
        }
        mine.add(score, min(keys - start, 32), dv, [=](int j, int col) {
            const size_t key = start + j;
            return int4_of(v + key * (dv / 2), col) * __half2float(sv[key]);
        });
    }
    for (int part = 0, col = lane; col < dv; ++part, col += 32) {
        o[col] = mine.total[part] / mine.sum;
    }
}
