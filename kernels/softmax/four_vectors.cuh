// A sum of exponentials relative to the maximum of all elements so far, which takes four vectors at a time.
#pragma once

#include "../row.cuh"

// Four vectors of a thread's share, `THREADS` apart; elements after `end` are -inf.
template <int THREADS, Loads LOADS, class E>
__device__ __forceinline__ void load_four(Vector<E> (&four)[4], const Row<E> &row, int first, int end) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int i = first + k * THREADS;
        if (i < end) {
            four[k] = row.template load<LOADS>(first, k * THREADS);
        } else {
#pragma unroll
            for (int j = 0; j < Row<E>::width; ++j) {
                four[k].of[j] = -INFINITY;
            }
        }
    }
}

template <class E>
__device__ __forceinline__ void take(const Vector<E> (&four)[4], float &max, float &sum) {
    constexpr int width = Vector<E>::width;
    float top = max;
#pragma unroll
    for (int k = 0; k < 4 * width; ++k) {
        top = fmaxf(top, four[k / width].of[k % width]);
    }
    if (top > max) {  // one rescaling for all of them; max may be -inf, and then the sum is 0
        sum *= expf(max - top);
        max = top;
    }
    const float below = finite_or_zero(max);
    float columns[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < 4 * width; ++k) {
        columns[k % 4] += exponential<E>(four[k / width].of[k % width] - below);
    }
    sum += (columns[0] + columns[1]) + (columns[2] + columns[3]);
}
