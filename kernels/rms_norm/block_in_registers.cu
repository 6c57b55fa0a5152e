// RMS norm of each row by a block that holds it in registers: read once, written once, one barrier.
//
// Every block reads the weights, and they lie in the caches. Two vectors of them are requested together
// with the row, which gains half a percent to 1 % at 4,096, 16,384 and 32,768 columns; more vectors cost
// registers, and time. The first-level cache gets what shared memory leaves, which here is all of it.
// As in softmax/block_in_registers, threads and vectors a thread are template parameters, and __launch_bounds__
// says how many blocks a multiprocessor runs at once, with registers for another vector in a thread.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..2147483647", cols = "1..32768" }
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 4 * threads * vectors"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// adds      = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry = "rms_norm_block_in_registers<{threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// args  = ["y", "x", "w", "cols"]
// ///

#include "../row.cuh"

template <int THREADS, int VECTORS>
__global__ void __launch_bounds__(THREADS, resident_blocks(THREADS, 4 * VECTORS + 4))
rms_norm_block_in_registers(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ w, int cols) {
    // y and x are (rows, cols), w is (cols); a block a row
    __shared__ float sum_of_warp[32];
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    const BlockRow<float> row(x, blockIdx.x, cols);
    y += static_cast<size_t>(blockIdx.x) * cols;

    Vector<float> mine[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const int i = tid + k * THREADS;
        mine[k] = {{0.0f, 0.0f, 0.0f, 0.0f}};
        if (i < row.vectors) {
            mine[k] = row.load(tid, k * THREADS);
        }
    }
    constexpr int AHEAD = 2;
    const bool is_aligned = is_placed_alike(y, row.x) && is_placed_alike(w, row.x);
    const int first = row.head + 4 * tid;
    Vector<float> weights[VECTORS];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        if (is_aligned && tid + k * THREADS < row.vectors) {
            widen(weights[k], kept(w + first + 4 * k * THREADS));
        }
    }
    const int col = row.edge(tid);
    const float edge = row.element(col, 0.0f);
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            sums[j] += mine[k].of[j] * mine[k].of[j];
        }
    }
    const float sum = block_sum<THREADS>(((sums[0] + sums[1]) + (sums[2] + sums[3])) + edge * edge, sum_of_warp);
    const float scale = rsqrtf(sum / cols + 1e-6f);

    if (is_aligned) {
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            if (tid + k * THREADS < row.vectors) {
                if (k >= AHEAD) {
                    widen(weights[k], kept(w + first + 4 * k * THREADS));
                }
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    mine[k].of[j] = mine[k].of[j] * scale * weights[k].of[j];
                }
                narrow(y + first + 4 * k * THREADS, mine[k]);
            }
        }
    } else {
#pragma unroll
        for (int k = 0; k < 4 * VECTORS; ++k) {
            if (tid + k / 4 * THREADS < row.vectors) {
                const int place = first + 4 * (k / 4) * THREADS + k % 4;
                y[place] = mine[k / 4].of[k % 4] * scale * w[place];
            }
        }
    }
    if (col >= 0) {
        y[col] = edge * scale * w[col];
    }
}
