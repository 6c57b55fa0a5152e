// Attention as in FlashAttention, in float: one warp for a row of q, 32 keys at a time, no score is ever stored.
//
// Lane j computes the score of key j of the tile. When the tile's maximum exceeds the running one, the sum and
// the sums over v are rescaled to it. Then each lane adds e_j v_j for its own columns of v; the division comes
// last. The lanes exchange the tile's exps by shuffle. A lane beyond the last key has -inf, so that its exp is 0.
//
// /// kernel
// op     = "attention"
// axes   = { heads = "1..65535", rows = "1..1048576", keys = "1..1073741824", d = "1..128", dv = "1..128" }
// tune   = { threads = [32, 128, 256] }
// arrays = { q = "f32[heads, rows, d] -> q", k = "f32[heads, keys, d] -> k", v = "f32[heads, keys, dv] -> v", o = "f32[heads, rows, dv] <- o" }
// launch = [{ grid = "ceil_div(rows, threads / 32), heads", block = "threads" }]
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", pv = "keys - 1", row = "ceil_div(keys, 32) - 1 + ceil_log2(min(keys, 32))" }
// rescales = "ceil_div(keys, 32) - 1"  # each tile those before it
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
// ///

constexpr int MOST = 128 / 32;  // columns of v that one lane adds up

__device__ float warp_max(float value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

__device__ float warp_sum(float value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__global__ void attention_flash_warp(float *o, const float *q, const float *k, const float *v, int rows, int keys, int d,
                                     int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a warp a row
    const int lane = threadIdx.x % 32;
    const size_t head = blockIdx.y, row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    q += (head * rows + row) * d;
    k += head * keys * d;
    v += head * keys * dv;
    o += (head * rows + row) * dv;
    const float scale = 1.0f / sqrtf(static_cast<float>(d));

    float max = -INFINITY, sum = 0.0f, total[MOST] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int start = 0; start < keys; start += 32) {
        const int key = start + lane;  // may pass keys - 1
        float score = -INFINITY;
        if (key < keys) {
            float dot = 0.0f;
            for (int i = 0; i < d; ++i) {
                dot += q[i] * k[static_cast<size_t>(key) * d + i];
            }
            score = dot * scale;
        }
        const float top = fmaxf(max, warp_max(score));
        const float base = top == -INFINITY ? 0.0f : top;  // no key so far that counts; -inf - -inf would be NaN
        const float grown = expf(max - base), e = expf(score - base);
        max = top;
        sum = sum * grown + warp_sum(e);
        for (int part = 0; part < MOST; ++part) {
            total[part] *= grown;
        }
        for (int j = 0; j < 32 && start + j < keys; ++j) {
            const float weight = __shfl_sync(0xffffffffu, e, j);
            for (int part = 0, col = lane; col < dv; ++part, col += 32) {
                total[part] += weight * v[static_cast<size_t>(start + j) * dv + col];
            }
        }
    }
    for (int part = 0, col = lane; col < dv; ++part, col += 32) {
        o[col] = total[part] / sum;
    }
}
