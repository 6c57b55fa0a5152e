// Attention of one row of q by a warp, up to 32 keys at a time, with a running maximum; no score is ever stored.
//
// When a tile's maximum exceeds the running one, the sum and the sums over v are rescaled to it. A lane has the score of its own key
// of the tile, and adds up its own columns of v: lane, lane + 32, and so on.
#pragma once

#include "warp_and_block.cuh"

template <int COLUMNS>
struct FlashRow {
    static constexpr int PARTS = (COLUMNS + 31) / 32;  // columns of v that a lane adds up
    float max = -INFINITY, sum = 0.0f, total[PARTS] = {};

    // A tile of `keys` keys: `score` is that of the lane's own, -inf where it has none; value(j, col) is a number of v of key j.
    template <class Value>
    __device__ __forceinline__ void add(float score, int keys, int dv, Value value) {
        const float top = fmaxf(max, warp_max(score));
        const float base = top == -INFINITY ? 0.0f : top;  // no key so far that counts; -inf - -inf would be NaN
        const float grown = expf(max - base), e = expf(score - base);
        max = top;
        sum = sum * grown + warp_sum(e);
        for (int part = 0; part < PARTS; ++part) {
            total[part] *= grown;
        }
        for (int j = 0; j < keys; ++j) {
            const float weight = __shfl_sync(0xffffffffu, e, j);
            for (int part = 0, col = threadIdx.x % 32; col < dv; ++part, col += 32) {
                total[part] += weight * value(j, col);
            }
        }
    }
};
