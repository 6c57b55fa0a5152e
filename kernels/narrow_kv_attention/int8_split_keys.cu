// Attention with keys and values of int8 for few rows of q and many keys, as in decoding: the keys are split among warps.
//
// The first launch leaves of each part its maximum, its sum, and its sums over v. The second brings the parts to their common
// maximum and adds them. A part without keys has the maximum -inf and counts nothing.
//
// /// kernel
// op     = "narrow_kv_attention"
// axes   = { heads = "1..65535", rows = "1..65535", keys = "1..1048576", d = "1..128", dv = "1..64" }
// tune   = { splits = [2, 5, 16] }
// arrays = { q = "f32[heads, rows, d] -> q", k = "i8[heads, keys, d] -> k", v = "i8[heads, keys, dv] -> v", sk = "f32[heads, 1] -> scale_k", sv = "f32[heads, 1] -> scale_v", o = "f32[heads, rows, dv] <- o", max_sum = "f32[heads, rows, splits, 2]", totals = "f32[heads, rows, splits, dv]" }
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", pv = "keys - 1 + splits", row = "ceil_div(keys, 32) - 1 + 5 + splits" }
// rescales = "ceil_div(ceil_div(keys, splits), 32)"  # each tile those before it, then once with the other parts
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// entry = "attention_of_a_part"
// grid  = "splits, rows, heads"
// block = 32
//
// [[launch]]
// entry = "attention_of_all_parts"
// grid  = "rows, heads"
// block = 64
// ///

#include <cstdint>

#include "../flash.cuh"

__global__ void attention_of_a_part(float *totals, float *max_sum, const float *q, const int8_t *k, const int8_t *v,
                                    const float *sk, int keys, int d, int dv) {
    // totals is (heads, rows, splits, dv), max_sum is (heads, rows, splits, 2), q is (heads, rows, d); a warp a part
    const int lane = threadIdx.x;  // ranges [0, 32)
    const size_t head = blockIdx.z, row = blockIdx.z * gridDim.y + blockIdx.y, part = row * gridDim.x + blockIdx.x;
    const int width = (keys + gridDim.x - 1) / gridDim.x;
    const int first = blockIdx.x * width, last = min(first + width, keys);  // an empty part where first >= keys
    q += row * d;
    k += head * keys * d;
    v += head * keys * dv;
    const float scale = sk[head] / sqrtf(static_cast<float>(d));

    FlashRow<64> mine;
    for (int start = first; start < last; start += 32) {
        float score = -INFINITY;
        if (start + lane < last) {
            float dot = 0.0f;
            for (int i = 0; i < d; ++i) {
                dot += q[i] * static_cast<float>(k[static_cast<size_t>(start + lane) * d + i]);
            }
            score = dot * scale;
        }
        mine.add(score, min(last - start, 32), dv, [=](int j, int col) {
            return static_cast<float>(v[static_cast<size_t>(start + j) * dv + col]);
        });
    }
    if (lane == 0) {
        max_sum[2 * part] = mine.max;
        max_sum[2 * part + 1] = mine.sum;
    }
    for (int i = 0, col = lane; col < dv; ++i, col += 32) {
        totals[part * dv + col] = mine.total[i];
    }
}

__global__ void attention_of_all_parts(float *o, const float *totals, const float *max_sum, const float *sv, int splits, int dv) {
    // o is (heads, rows, dv), totals is (heads, rows, splits, dv), max_sum is (heads, rows, splits, 2); a block a row
    const size_t row = blockIdx.y * gridDim.x + blockIdx.x;
    totals += row * splits * dv;
    max_sum += row * splits * 2;
    float top = -INFINITY;
    for (int part = 0; part < splits; ++part) {
        top = fmaxf(top, max_sum[2 * part]);
    }
    const float base = top == -INFINITY ? 0.0f : top;  // no key counts
    for (int col = threadIdx.x; col < dv; col += blockDim.x) {
        float sum = 0.0f, total = 0.0f;
        for (int part = 0; part < splits; ++part) {
            const float scaled = expf(max_sum[2 * part] - base);
            sum += scaled * max_sum[2 * part + 1];
            total += scaled * totals[part * dv + col];
        }
        o[row * dv + col] = total / sum * sv[blockIdx.y];
    }
}
