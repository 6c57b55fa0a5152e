// FlashAttention with keys and values of int8 and a scale for each token: a block of four warps shares tiles of 32 keys as floats.
//
// All threads of the block widen a tile into shared memory, with the scales of its tokens. Then each warp uses it for its own row of
// q. A row of the tile of keys has one float more than it needs: 32 lanes that read one column would meet in one bank.
//
// /// kernel
// op      = "narrow_kv_attention"
// axes    = { heads = "1..65535", rows = "1..1048576", keys = "1..1048576", d = "1..64", dv = "1..64" }
// arrays  = { q = "f32[heads, rows, d] -> q", k = "i8[heads, keys, d] -> k", v = "i8[heads, keys, dv] -> v", sk = "f32[heads, keys] -> scale_k", sv = "f32[heads, keys] -> scale_v", o = "f32[heads, rows, dv] <- o" }
// scalars = { keys_together = 1 }
// launch  = [{ grid = "ceil_div(rows, 4), heads", block = 128 }]
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", pv = "keys - 1", row = "ceil_div(keys, 32) - 1 + ceil_log2(min(keys, 32))" }
// rescales = "ceil_div(keys, 32) - 1"  # each tile those before it
// shift    = "running max"
// exp      = "expf"
// divide   = "reciprocal"
// ///

#include <cstdint>

#include "../flash.cuh"

constexpr int MOST = 64;

__global__ void flash_int8_tiles(float *o, const float *q, const int8_t *k, const int8_t *v, const float *sk, const float *sv,
                                 int rows, int keys, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv), sk and sv are (heads, keys)
    __shared__ float of_k[32][MOST + 1], of_v[32][MOST];
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t head = blockIdx.y, row = static_cast<size_t>(blockIdx.x) * 4 + threadIdx.x / 32;  // may pass rows - 1
    q += (head * rows + row) * d;
    o += (head * rows + row) * dv;
    const float scale = 1.0f / sqrtf(static_cast<float>(d));

    FlashRow<MOST> mine;
    for (int start = 0; start < keys; start += 32) {
        const int count = min(keys - start, 32);
        const size_t first = head * keys + start;
        __syncthreads();  // no warp needs the last tile any more
        for (int i = threadIdx.x; i < count * d; i += blockDim.x) {
            of_k[i / d][i % d] = static_cast<float>(k[first * d + i]) * sk[first + i / d];
        }
        for (int i = threadIdx.x; i < count * dv; i += blockDim.x) {
            of_v[i / dv][i % dv] = static_cast<float>(v[first * dv + i]) * sv[first + i / dv];
        }
        __syncthreads();
        if (row >= rows) {
            continue;  // the whole warp together; it has done its share of the tile
        }
        float score = -INFINITY;
        if (lane < count) {
            float dot = 0.0f;
            for (int i = 0; i < d; ++i) {
                dot += q[i] * of_k[lane][i];
            }
            score = dot * scale;
        }
        mine.add(score, count, dv, [&](int j, int col) { return of_v[j][col]; });
    }
    if (row < rows) {
        const float inverse = 1.0f / mine.sum;
        for (int part = 0, col = lane; col < dv; ++part, col += 32) {
            o[col] = mine.total[part] * inverse;
        }
    }
}
