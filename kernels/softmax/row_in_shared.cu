// Softmax of each row by a block, the row in shared memory: copied there without registers (cp.async).
//
// Beyond some 16,000 columns a row no longer fits into the registers of a block that leaves room for another. It does
// fit into shared memory, up to 57,344 columns in the 227 KB of a block. A normal copy to shared memory goes through
// registers, and a thread waits for it before the next; __pipeline_memcpy_async does not, so the whole row is requested
// at once. A thread reads back only what it has copied itself, so that no barrier is needed between copy and use.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..57344" }
// tune   = { threads = [32, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
// values = { nan = "row", pos_inf = "row" }
//
// [accuracy]  # a thread's vectors, two adds of its four sums; then the halvings
// adds     = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// entry  = "softmax_row_in_shared<float, {threads}>"
// grid   = "rows"
// block  = "threads"
// shared = "16 * (cols / 4)"
// ///

#include <cuda_pipeline.h>

#include "one_at_a_time.cuh"

template <class E, int THREADS>
__global__ void __launch_bounds__(THREADS) softmax_row_in_shared(E *__restrict__ y, const E *__restrict__ x, int cols) {
    // y and x are (rows, cols); a block a row
    if (!is_placed_alike(y, x)) {
        return softmax_one_at_a_time<THREADS>(y, x, blockIdx.x, cols);
    }
    constexpr int width = Vector<E>::width;
    constexpr bool is_kept = width == 4;  // an exponential has room where a float lies; of 16 bits it is computed again
    extern __shared__ float4 held[];  // (row.vectors)
    __shared__ float max_of_warp[32];
    __shared__ float sum_of_warp[32];
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    const BlockRow<E> row(x, blockIdx.x, cols);
    y += static_cast<size_t>(blockIdx.x) * cols;

    const E *const from = row.x + row.head;
    for (int i = tid; i < row.vectors; i += THREADS) {
        __pipeline_memcpy_async(&held[i], from + width * i, 16);
    }
    __pipeline_commit();
    const int col = row.edge(tid);
    float edge = col >= 0 ? static_cast<float>(row.x[col]) : -INFINITY;
    __pipeline_wait_prior(0);

    E *const elements = reinterpret_cast<E *>(held);
    float max = edge;
#pragma unroll 4
    for (int i = tid; i < row.vectors; i += THREADS) {
        Vector<E> v;
        widen(v, elements + width * i);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            max = fmaxf(max, v.of[j]);
        }
    }
    max = block_max<THREADS>(max, max_of_warp);

    edge = exponential<E>(edge - max);
    float sums[4] = {edge, 0.0f, 0.0f, 0.0f};
#pragma unroll 4
    for (int i = tid; i < row.vectors; i += THREADS) {
        Vector<E> v;
        widen(v, elements + width * i);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            v.of[j] = exponential<E>(v.of[j] - max);
            sums[j % 4] += v.of[j];
        }
        if (is_kept) {
            narrow(elements + width * i, v);
        }
    }
    const float scale = 1.0f / block_sum<THREADS>((sums[0] + sums[1]) + (sums[2] + sums[3]), sum_of_warp);

    E *const to = y + row.head;
#pragma unroll 4
    for (int i = tid; i < row.vectors; i += THREADS) {
        Vector<E> v;
        widen(v, elements + width * i);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            v.of[j] = is_kept ? v.of[j] : exponential<E>(v.of[j] - max);
        }
        narrow(to + width * i, scaled(v, scale));
    }
    store_edge(y, col, edge * scale);
}
