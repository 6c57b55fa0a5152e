// Softmax of each row by a block that holds it in registers: read once, written once, two barriers.
//
// cached_block keeps a row in shared memory, one element at a time. Registers are larger and nearer, but an array in
// them must have a fixed size: so threads and vectors a thread are template parameters, just large enough for the
// row. The speed depends on how many blocks a multiprocessor runs at once, and so on the registers of a thread: by
// default the compiler takes 80 for 512 threads of eight vectors, which lets one block run instead of two, and costs
// a sixth of the speed. __launch_bounds__ prevents that. The padding of a row is -inf, whose exp is an exact 0.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..32768" }
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8, 10, 16] }
// where  = ["threads * vectors <= 8192", "cols <= 4 * threads * vectors"]
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
// values = { nan = "row", pos_inf = "row" }
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// adds     = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// entry = "softmax_block_in_registers<float, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "one_at_a_time.cuh"

template <class E, int THREADS, int VECTORS, Loads LOADS = KEPT>
__global__ void __launch_bounds__(THREADS, resident_blocks(THREADS, VECTORS * Vector<E>::width))
softmax_block_in_registers(E *__restrict__ y, const E *__restrict__ x, int cols) {
    // y and x are (rows, cols); a block a row
    constexpr int width = Vector<E>::width;
    __shared__ float max_of_warp[32];
    __shared__ float sum_of_warp[32];
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    const BlockRow<E> row(x, blockIdx.x, cols);

    Vector<E> mine[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const int i = tid + k * THREADS;
        if (i < row.vectors) {
            mine[k] = row.template load<LOADS>(tid, k * THREADS);
        } else {
#pragma unroll
            for (int j = 0; j < width; ++j) {
                mine[k].of[j] = -INFINITY;
            }
        }
    }
    const int col = row.edge(tid);
    float edge = row.template element<LOADS>(col, -INFINITY);
    // asked while all that is loaded is on its way: before it, this took 1 % of short rows
    if (!is_placed_alike(y, x)) {
        return softmax_one_at_a_time<THREADS>(y, x, blockIdx.x, cols);
    }
    float tops[4] = {edge, -INFINITY, -INFINITY, -INFINITY};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
        for (int j = 0; j < width; ++j) {
            tops[j % 4] = fmaxf(tops[j % 4], mine[k].of[j]);
        }
    }
    const float top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    const float max = block_max<THREADS>(top, max_of_warp);

    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
        for (int j = 0; j < width; ++j) {
            mine[k].of[j] = exponential<E>(mine[k].of[j] - max);
            sums[j % 4] += mine[k].of[j];
        }
    }
    edge = exponential<E>(edge - max);  // 0 where there is none; to ask whether takes longer, by up to 1 %
    const float scale = 1.0f / block_sum<THREADS>(((sums[0] + sums[1]) + (sums[2] + sums[3])) + edge, sum_of_warp);

    y += static_cast<size_t>(blockIdx.x) * cols;
    E *const to = y + row.head + width * tid;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (tid + k * THREADS < row.vectors) {
            narrow<LOADS == STREAMED>(to + width * k * THREADS, scaled(mine[k], scale));
        }
    }
    store_edge<LOADS == STREAMED>(y, col, edge * scale);
}
