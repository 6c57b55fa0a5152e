// Softmax of each row by a block, the row in shared memory: copied there past the registers (cp.async).
//
// Beyond some 16,000 columns a row no longer fits into the registers of a block that leaves room for another. It does fit
// into shared memory, up to 57,344 columns in the 227 KB of a block. A copy to shared memory goes through registers, and
// a thread waits for it before it can begin another; __pipeline_memcpy_async does not, and so the whole row is asked for
// at once. A thread reads back only what it has copied itself, so that between copy and use no barrier is needed.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..57344" }
// tune   = { threads = [128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # one add within a vector, a thread's vectors, its two sums; then the halvings
// adds     = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [[launch]]
// entry  = "softmax_row_in_shared<{threads}>"
// grid   = "rows"
// block  = "threads"
// shared = "16 * (cols / 4)"
// args   = ["y", "x", "cols"]
// ///

#include <cuda_pipeline.h>

#include "../row.cuh"

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
softmax_row_in_shared(float *__restrict__ y, const float *__restrict__ x, int cols) {
    // y and x are (rows, cols); a block a row
    extern __shared__ float4 held[];  // (row.vectors)
    __shared__ float max_of_warp[32];
    __shared__ float sum_of_warp[32];
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    const BlockRow<float> row(x, blockIdx.x, cols);
    y += static_cast<size_t>(blockIdx.x) * cols;

    const float *const from = row.x + row.head;
    for (int i = tid; i < row.vectors; i += THREADS) {
        __pipeline_memcpy_async(&held[i], from + 4 * i, 16);
    }
    __pipeline_commit();
    const int col = row.edge(tid);
    float edge = col >= 0 ? row.x[col] : -INFINITY;
    __pipeline_wait_prior(0);

    float max = edge;
#pragma unroll 4
    for (int i = tid; i < row.vectors; i += THREADS) {
        const float4 v = held[i];
        max = fmaxf(max, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    max = block_max<THREADS>(max, max_of_warp);

    edge = expf(edge - max);
    float sum = edge, other = 0.0f;
#pragma unroll 4
    for (int i = tid; i < row.vectors; i += THREADS) {
        const float4 v = held[i];
        const float4 e = make_float4(expf(v.x - max), expf(v.y - max), expf(v.z - max), expf(v.w - max));
        held[i] = e;
        sum += e.x + e.y;
        other += e.z + e.w;
    }
    const float scale = 1.0f / block_sum<THREADS>(sum + other, sum_of_warp);

    float *const to = y + row.head;
    const bool is_aligned = is_placed_alike(y, row.x);
#pragma unroll 4
    for (int i = tid; i < row.vectors; i += THREADS) {
        const float4 e = held[i];
        const Vector<float> made = {{e.x * scale, e.y * scale, e.z * scale, e.w * scale}};
        if (is_aligned) {
            narrow(to + 4 * i, made);
        } else {
            store_singly(to + 4 * i, made);
        }
    }
    if (col >= 0) {
        y[col] = edge * scale;
    }
}
