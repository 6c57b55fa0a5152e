// Layer norm of each row by a block, the row in shared memory: copied there without registers (cp.async).
//
// As in softmax/row_in_shared: a row too long for the registers of a block that leaves room for another is
// requested at once, and a thread reads back only what it has copied itself. Two passes over shared
// memory: first the mean, then the squares of the differences from it. Weights and biases come from the
// second-level cache, as many bytes as memory moves in all: many loads at once gain 6 points, and
// streaming stores leave them in the cache. Asking the cache to keep them (kept.cuh) costs 4 to 12 points.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..2147483647", cols = "1..57344" }
// tune   = { threads = [32, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums; then the halvings
// form      = "two pass"
// adds      = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry  = "layer_norm_row_in_shared<{threads}>"
// grid   = "rows"
// block  = "threads"
// shared = "16 * (cols / 4)"
// ///

#include <cuda_pipeline.h>

#include "../row.cuh"

template <int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
layer_norm_row_in_shared(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ w,
                         const float *__restrict__ b, int cols) {
    // y and x are (rows, cols), w and b are (cols); a block a row
    constexpr int UNROLLED = THREADS == 1024 ? 8 : 16;  // and one block at a time: registers for as many loads
    extern __shared__ float4 held[];  // (row.vectors)
    __shared__ float sum_of_warp[32];
    __shared__ float squares_of_warp[32];
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    const BlockRow<float> row(x, blockIdx.x, cols);
    y += static_cast<size_t>(blockIdx.x) * cols;

    const float *const from = row.x + row.head;
    for (int i = tid; i < row.vectors; i += THREADS) {
        __pipeline_memcpy_async(&held[i], from + 4 * i, 16);
    }
    __pipeline_commit();
    const int col = row.edge(tid);
    float edge = col >= 0 ? row.x[col] : 0.0f;
    __pipeline_wait_prior(0);

    float sums[4] = {edge, 0.0f, 0.0f, 0.0f};
#pragma unroll UNROLLED
    for (int i = tid; i < row.vectors; i += THREADS) {
        const float4 v = held[i];
        sums[0] += v.x;
        sums[1] += v.y;
        sums[2] += v.z;
        sums[3] += v.w;
    }
    const float mean = block_sum<THREADS>((sums[0] + sums[1]) + (sums[2] + sums[3]), sum_of_warp) / cols;

    edge = col >= 0 ? edge - mean : 0.0f;
    float squares[4] = {edge * edge, 0.0f, 0.0f, 0.0f};
#pragma unroll UNROLLED
    for (int i = tid; i < row.vectors; i += THREADS) {
        const float4 v = held[i];
        const float4 d = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
        squares[0] += d.x * d.x;
        squares[1] += d.y * d.y;
        squares[2] += d.z * d.z;
        squares[3] += d.w * d.w;
    }
    const float of_thread = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    const float scale = rsqrtf(block_sum<THREADS>(of_thread, squares_of_warp) / cols + 1e-5f);

    if (is_placed_alike(y, row.x) && is_placed_alike(w, row.x) && is_placed_alike(b, row.x)) {
#pragma unroll UNROLLED
        for (int i = tid; i < row.vectors; i += THREADS) {
            const int place = row.head + 4 * i;
            const float4 v = held[i];
            Vector<float> weights, biases;
            widen(weights, w + place);
            widen(biases, b + place);
            narrow<true>(y + place, {{(v.x - mean) * scale * weights.of[0] + biases.of[0],
                                      (v.y - mean) * scale * weights.of[1] + biases.of[1],
                                      (v.z - mean) * scale * weights.of[2] + biases.of[2],
                                      (v.w - mean) * scale * weights.of[3] + biases.of[3]}});
        }
    } else {
        for (int i = tid; i < row.vectors; i += THREADS) {
            const int place = row.head + 4 * i;
            const float4 v = held[i];
            store_singly(y + place, {{(v.x - mean) * scale * w[place] + b[place],
                                      (v.y - mean) * scale * w[place + 1] + b[place + 1],
                                      (v.z - mean) * scale * w[place + 2] + b[place + 2],
                                      (v.w - mean) * scale * w[place + 3] + b[place + 3]}});
        }
    }
    if (col >= 0) {
        y[col] = edge * scale * w[col] + b[col];
    }
}
