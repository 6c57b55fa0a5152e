// The mean of a row, and the squares about it, in one meeting of its warps: Chan's formula for many parts at once.
//
// Each warp has its number of elements, their sum, and their squares about its own mean. The squares of all are theirs, and for
// each part its number times the square of the distance of its mean. No digits are lost however large the mean is.
#pragma once

#include "../held_row.cuh"

// Of the elements that a warp holds: how many, their sum, and their squares about their mean. All lanes end with it.
template <class Held>
__device__ __forceinline__ float4 parts_of_warp(Held &mine) {
    constexpr int width = Held::width;
    float sums[4] = {mine.edge, 0.0f, 0.0f, 0.0f};
    int elements = mine.col >= 0 ? 1 : 0;
#pragma unroll
    for (int k = 0; k < Held::vectors; ++k) {
        elements += mine.has(k) ? width : 0;
        const auto v = mine.floats(k);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            sums[j % 4] += v.of[j];
        }
    }
    const float sum = lanes_sum<32>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    const float number = static_cast<float>(__reduce_add_sync(0xffffffffu, elements));
    const float mean = number > 0.0f ? sum / number : 0.0f;
    const float off = mine.col >= 0 ? mine.edge - mean : 0.0f;
    float squares[4] = {off * off, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < Held::vectors; ++k) {
        mine.forget(k);
        if (mine.has(k)) {  // what pads a row counts nothing
            const auto v = mine.floats(k);
#pragma unroll
            for (int j = 0; j < width; ++j) {
                squares[j % 4] += (v.of[j] - mean) * (v.of[j] - mean);
            }
        }
    }
    return make_float4(number, sum, lanes_sum<32>((squares[0] + squares[1]) + (squares[2] + squares[3])), 0.0f);
}

// The mean and the squares of the row; every thread ends with both.
template <int THREADS, int CLUSTER>
__device__ __forceinline__ float2 mean_and_squares(float4 of_warp, int cols, OfWarps<float4, THREADS, CLUSTER> &of_warps) {
    constexpr int lanes = OfWarps<float4, THREADS, CLUSTER>::lanes, each = OfWarps<float4, THREADS, CLUSTER>::all / lanes;
    of_warps.tell(of_warp);
    const float4 *const parts = of_warps.of + threadIdx.x % lanes;
    float sums[each], squares[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
        sums[k] = parts[k * lanes].y;
    }
    const float mean = lanes_sum<lanes>(halved_sum(sums)) / cols;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const float4 part = parts[k * lanes];
        const float off = part.x > 0.0f ? part.y / part.x - mean : 0.0f;  // a warp without an element has no mean
        squares[k] = part.z + part.x * off * off;
    }
    return make_float2(mean, lanes_sum<lanes>(halved_sum(squares)));
}
