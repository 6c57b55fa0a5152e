// Attention with keys and values of e5m2 and a scale for each head: a thread a row of q, one key after the other, in one pass.
//
// The running maximum rises at a key or stays; if it rises, the sum and the sums over v are rescaled, else the key's own exp is
// scaled. Queries are bfloat16, answers are float.
//
// /// kernel
// op     = "narrow_kv_attention"
// axes   = { heads = "1..65535", rows = "1..1048576", keys = "1..65536", d = "1..256", dv = "1..32" }
// tune   = { threads = [32, 128] }
// arrays = { q = "bf16[heads, rows, d] -> q", k = "e5m2[heads, keys, d] -> k", v = "e5m2[heads, keys, dv] -> v", sk = "f32[heads, 1] -> scale_k", sv = "f32[heads, 1] -> scale_v", o = "f32[heads, rows, dv] <- o" }
// launch = [{ grid = "ceil_div(rows, threads), heads", block = "threads" }]
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", "*" = "keys - 1" }
// rescales = "keys - 1"
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int MOST = 32;

__global__ void attention_e5m2_thread(float *o, const __nv_bfloat16 *q, const __nv_fp8_e5m2 *k, const __nv_fp8_e5m2 *v,
                                      const float *sk, const float *sv, int rows, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a thread a row
    const size_t head = blockIdx.y, row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    q += (head * rows + row) * d;
    k += head * keys * d;
    v += head * keys * dv;
    o += (head * rows + row) * dv;
    const float scale = sk[head] / sqrtf(static_cast<float>(d));

    float max = -INFINITY, sum = 0.0f, total[MOST] = {};
    for (int key = 0; key < keys; ++key) {
        float dot = 0.0f;
        for (int i = 0; i < d; ++i) {
            dot += __bfloat162float(q[i]) * static_cast<float>(k[static_cast<size_t>(key) * d + i]);
        }
        const float score = dot * scale;
        if (score == -INFINITY) {
            continue;  // it does not count; -inf - -inf would be NaN
        }
        const float grown = score > max ? expf(max - score) : 1.0f;  // exp(-inf) = 0 at the first key that counts
        const float e = score > max ? 1.0f : expf(score - max);
        max = fmaxf(max, score);
        sum = sum * grown + e;
        for (int col = 0; col < dv; ++col) {
            total[col] = total[col] * grown + e * static_cast<float>(v[static_cast<size_t>(key) * dv + col]);
        }
    }
    for (int col = 0; col < dv; ++col) {
        o[col] = total[col] / sum * sv[head];
    }
}
