// Layer norm of each row by a block that holds it in registers: read once, written once, two barriers.
//
// Two passes, the second over registers: first the mean, then the squares of the
// differences from it, so that no digits are lost however large the mean is.
// As in softmax/block_in_registers, threads and vectors a thread are template parameters, and __launch_bounds__
// says how many blocks a multiprocessor runs at once, with registers for another vector in a thread.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..2147483647", cols = "1..16384" }
// tune   = { threads = [64, 128, 256, 512], vectors = [2, 4, 8] }
// where  = ["cols <= 4 * threads * vectors"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// form      = "two pass"
// adds      = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry = "layer_norm_block_in_registers<{threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// args  = ["y", "x", "w", "b", "cols"]
// ///

#include "../row.cuh"

template <int THREADS, int VECTORS>
__global__ void __launch_bounds__(THREADS, resident_blocks(THREADS, 4 * VECTORS + 4))
layer_norm_block_in_registers(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ w,
                              const float *__restrict__ b, int cols) {
    // y and x are (rows, cols), w and b are (cols); a block a row
    __shared__ float sum_of_warp[32];
    __shared__ float squares_of_warp[32];
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
    constexpr int AHEAD = 1;
    const bool is_aligned = is_placed_alike(y, row.x) && is_placed_alike(w, row.x) && is_placed_alike(b, row.x);
    const int first = row.head + 4 * tid;
    Vector<float> weights[VECTORS], biases[VECTORS];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        if (is_aligned && tid + k * THREADS < row.vectors) {
            widen(weights[k], kept(w + first + 4 * k * THREADS));
            widen(biases[k], kept(b + first + 4 * k * THREADS));
        }
    }
    const int col = row.edge(tid);
    float edge = row.element(col, 0.0f);
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            sums[j] += mine[k].of[j];
        }
    }
    const float mean = block_sum<THREADS>(((sums[0] + sums[1]) + (sums[2] + sums[3])) + edge, sum_of_warp) / cols;

    float squares[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const bool is_mine = tid + k * THREADS < row.vectors;  // what pads a row counts nothing
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            mine[k].of[j] -= mean;
            squares[j] += is_mine ? mine[k].of[j] * mine[k].of[j] : 0.0f;
        }
    }
    edge = col >= 0 ? edge - mean : 0.0f;
    const float of_thread = ((squares[0] + squares[1]) + (squares[2] + squares[3])) + edge * edge;
    const float scale = rsqrtf(block_sum<THREADS>(of_thread, squares_of_warp) / cols + 1e-5f);

    if (is_aligned) {
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            if (tid + k * THREADS < row.vectors) {
                if (k >= AHEAD) {
                    widen(weights[k], kept(w + first + 4 * k * THREADS));
                    widen(biases[k], kept(b + first + 4 * k * THREADS));
                }
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    mine[k].of[j] = mine[k].of[j] * scale * weights[k].of[j] + biases[k].of[j];
                }
                narrow(y + first + 4 * k * THREADS, mine[k]);
            }
        }
    } else {
#pragma unroll
        for (int k = 0; k < 4 * VECTORS; ++k) {
            if (tid + k / 4 * THREADS < row.vectors) {
                const int place = first + 4 * (k / 4) * THREADS + k % 4;
                y[place] = mine[k / 4].of[k % 4] * scale * w[place] + b[place];
            }
        }
    }
    if (col >= 0) {
        y[col] = edge * scale * w[col] + b[col];
    }
}
