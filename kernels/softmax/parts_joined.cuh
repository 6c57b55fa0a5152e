// Parts of a softmax: a maximum, and the sum of exponentials below it. Joined they are those of all elements together.
#pragma once

#include "../packed.cuh"

// The parts of all lanes together; every lane ends with both.
template <int LANES>
__device__ __forceinline__ float2 lanes_joined(float2 part) {
    const float max = lanes_max<LANES>(part.x);
    return make_float2(max, lanes_sum<LANES>(part.y * expf(part.x - finite_or_zero(max))));
}

// The parts of all warps of a row together; every thread ends with both.
template <int THREADS, int CLUSTER>
__device__ __forceinline__ float2 joined_of_row(float2 part, OfWarps<float2, THREADS, CLUSTER> &of_warps) {
    constexpr int lanes = OfWarps<float2, THREADS, CLUSTER>::lanes, each = OfWarps<float2, THREADS, CLUSTER>::all / lanes;
    of_warps.tell(part);
    const float2 *const mine = of_warps.of + threadIdx.x % lanes;
    if constexpr (each == 1) {
        return lanes_joined<lanes>(*mine);
    } else {
        float max = mine->x, sums[each];
#pragma unroll
        for (int k = 1; k < each; ++k) {
            max = fmaxf(max, mine[k * lanes].x);
        }
#pragma unroll
        for (int k = 0; k < each; ++k) {
            sums[k] = mine[k * lanes].y * expf(mine[k * lanes].x - finite_or_zero(max));
        }
#pragma unroll
        for (int half = each / 2; half > 0; half /= 2) {
#pragma unroll
            for (int k = 0; k < half; ++k) {
                sums[k] += sums[k + half];
            }
        }
        return lanes_joined<lanes>(make_float2(max, sums[0]));
    }
}
