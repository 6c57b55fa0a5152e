// FlashAttention with keys and values of e4m3 and one scale for each of them; queries and answers are halves, a warp a row of q.
//
// Lane j computes the score of key j of a tile of 32. The scale of the keys is a factor of the scores' scale, and that of the values
// one of the division.
//
// /// kernel
// op      = "narrow_kv_attention"
// axes    = { heads = "1..65535", rows = "1..1048576", keys = "1..1073741824", d = "1..128", dv = "1..128" }
// tune    = { threads = [32, 128] }
// arrays  = { q = "f16[heads, rows, d] -> q", k = "e4m3[heads, keys, d] -> k", v = "e4m3[heads, keys, dv] -> v", sk = "f32[1, 1] -> scale_k", sv = "f32[1, 1] -> scale_v", o = "f16[heads, rows, dv] <- o" }
// scalars = { heads_together = "heads" }
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

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../flash.cuh"

__global__ void flash_e4m3_f16(__half *o, const __half *q, const __nv_fp8_e4m3 *k, const __nv_fp8_e4m3 *v, const float *sk,
                               const float *sv, int rows, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t head = blockIdx.y, row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    q += (head * rows + row) * d;
    k += head * keys * d;
    v += head * keys * dv;
    o += (head * rows + row) * dv;
    const float scale = *sk / sqrtf(static_cast<float>(d));

    FlashRow<128> mine;
    for (int start = 0; start < keys; start += 32) {
        float score = -INFINITY;
        if (start + lane < keys) {
            float dot = 0.0f;
            for (int i = 0; i < d; ++i) {
                dot += __half2float(q[i]) * static_cast<float>(k[static_cast<size_t>(start + lane) * d + i]);
            }
            score = dot * scale;
        }
        mine.add(score, min(keys - start, 32), dv, [=](int j, int col) {
            return static_cast<float>(v[static_cast<size_t>(start + j) * dv + col]);
        });
    }
    for (int part = 0, col = lane; col < dv; ++part, col += 32) {
        o[col] = __float2half(mine.total[part] / mine.sum * *sv);
    }
}
