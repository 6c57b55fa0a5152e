// Softmax of a row by workers that load and store an element at a time: for two
// arrays whose misalignments differ, so that no vector begins at 16 bytes in both.
//
// It reads the row three times. It is a separate function, so that the usual path, in one kernel with it, has registers
// and instructions as if it were alone: choosing between both at each store costs 2 % where nothing is misaligned.
#pragma once

#include "../row.cuh"

template <int WORKERS>
__device__ __forceinline__ float workers_max(float value) {
    // a block, or lanes of a warp; every worker ends with the result
    if constexpr (WORKERS <= 32) {
        return lanes_max<WORKERS>(value);
    } else {
        __shared__ float max_of_warp[32];
        return block_max<WORKERS>(value, max_of_warp);
    }
}

template <int WORKERS>
__device__ __forceinline__ float workers_sum(float value) {
    if constexpr (WORKERS <= 32) {
        return lanes_sum<WORKERS>(value);
    } else {
        __shared__ float sum_of_warp[32];
        return block_sum<WORKERS>(value, sum_of_warp);
    }
}

template <int WORKERS, class E>
__device__ __noinline__ void softmax_one_at_a_time(E *y, const E *x, unsigned int row, int cols) {
    // y and x are (rows, cols). Workers without a row have none of the columns, and take part in all that is told around.
    const int worker = threadIdx.x % WORKERS;  // ranges [0, WORKERS)
    y += static_cast<size_t>(row) * cols;
    x += static_cast<size_t>(row) * cols;
    float max = -INFINITY;
    for (int i = worker; i < cols; i += WORKERS) {
        max = fmaxf(max, static_cast<float>(x[i]));
    }
    max = workers_max<WORKERS>(max);
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = worker; i < cols; i += 4 * WORKERS) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (i + k * WORKERS < cols) {
                sums[k] += exponential<E>(static_cast<float>(x[i + k * WORKERS]) - max);
            }
        }
    }
    const float scale = 1.0f / workers_sum<WORKERS>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (int i = worker; i < cols; i += WORKERS) {
        y[i] = static_cast<E>(exponential<E>(static_cast<float>(x[i]) - max) * scale);
    }
}
