// Parts of a softmax: a maximum, and the sum of exponentials below it. Joined they are those of all elements together.
#pragma once

#include "../held_row.cuh"

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
        return lanes_joined<lanes>(make_float2(max, halved_sum(sums)));
    }
}

// The maximum of a row, and the sum of exponentials below it. Each warp adds up relative to its own maximum, so that the
// warps of the row meet once. The maximum of a row of nothing but -inf is -inf, and such a row becomes NaN, as is right.
template <class E, int THREADS, int VECTORS, int CLUSTER>
__device__ __forceinline__ float2 maximum_and_sum(const HeldRow<E, THREADS, VECTORS, CLUSTER> &mine,
                                                  OfWarps<float2, THREADS, CLUSTER> &of_warps) {
    Packed<E> tops = mine.held[0];
#pragma unroll
    for (int k = 1; k < VECTORS; ++k) {
        tops = larger_of(tops, mine.held[k]);
    }
    const float top = warp_max(fmaxf(mine.edge, largest_in(tops)));
    const float below = finite_or_zero(top);
    float sums[4] = {term_exponential<E>(mine.edge - below), 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const Vector<E> v = mine.floats(k);
#pragma unroll
        for (int j = 0; j < Vector<E>::width; ++j) {
            sums[j % 4] += term_exponential<E>(v.of[j] - below);
        }
    }
    const float sum = lanes_sum<32>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    all_have_begun<CLUSTER>();
    return joined_of_row(make_float2(top, sum), of_warps);
}
