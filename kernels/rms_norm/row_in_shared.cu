// RMS norm of each row by a block, the row in shared memory: copied there without registers (cp.async).
//
// As in softmax/row_in_shared: a row too long for the registers of a block that leaves room for another is requested
// at once, and a thread reads back only what it has copied itself. One sum, and one barrier. The weights come from
// the second-level cache: many loads at once gain 3 points. Asking the cache to keep them (kept.cuh) costs 6 points.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..2147483647", cols = "1..57344" }
// tune   = { threads = [32, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums; then the halvings
// adds      = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry  = "rms_norm_row_in_shared<{threads}>"
// grid   = "rows"
// block  = "threads"
// shared = "16 * (cols / 4)"
// ///

#include <cuda_pipeline.h>

#include "../row.cuh"

template <int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
rms_norm_row_in_shared(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ w, int cols) {
    // y and x are (rows, cols), w is (cols); a block a row
    constexpr int UNROLLED = THREADS == 1024 ? 8 : 16;  // and one block at a time: registers for as many loads
    extern __shared__ float4 held[];  // (row.vectors)
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
    const float edge = col >= 0 ? row.x[col] : 0.0f;
    __pipeline_wait_prior(0);

    float sums[4] = {edge * edge, 0.0f, 0.0f, 0.0f};
#pragma unroll UNROLLED
    for (int i = tid; i < row.vectors; i += THREADS) {
        const float4 v = held[i];
        sums[0] += v.x * v.x;
        sums[1] += v.y * v.y;
        sums[2] += v.z * v.z;
        sums[3] += v.w * v.w;
    }
    const float sum = block_sum<THREADS>((sums[0] + sums[1]) + (sums[2] + sums[3]), sum_of_warp);
    const float scale = rsqrtf(sum / cols + 1e-6f);

    if (is_placed_alike(y, row.x) && is_placed_alike(w, row.x)) {
#pragma unroll UNROLLED
        for (int i = tid; i < row.vectors; i += THREADS) {
            const int place = row.head + 4 * i;
            const float4 v = held[i];
            Vector<float> weights;
            widen(weights, w + place);
            narrow(y + place, {{v.x * scale * weights.of[0], v.y * scale * weights.of[1],
                                v.z * scale * weights.of[2], v.w * scale * weights.of[3]}});
        }
    } else {
        for (int i = tid; i < row.vectors; i += THREADS) {
            const int place = row.head + 4 * i;
            const float4 v = held[i];
            store_singly(y + place, {{v.x * scale * w[place], v.y * scale * w[place + 1],
                                      v.z * scale * w[place + 2], v.w * scale * w[place + 3]}});
        }
    }
    if (col >= 0) {
        y[col] = edge * scale * w[col];
    }
}
