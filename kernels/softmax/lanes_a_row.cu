// Softmax of each short row by a few lanes of a warp: a row's vectors are in their registers, no barrier, no shared memory.
//
// A warp a row leaves lanes idle if a row has fewer than 128 columns, and a block of one row has nothing
// that hides the latency of its loads. Here 8 or 16 lanes hold a row of up to 256 columns in up to four
// float4 each, so that a warp has several rows in flight. Blocks are small, so a multiprocessor takes the
// next one as soon as two warps have finished: 1 % against blocks of 128; but lanes of a single vector need
// those, since a multiprocessor runs at most 32 blocks: an eighth. All vectors are requested before any is
// used. Maximum, then sum, then one reciprocal. The padding of a row is -inf, whose exp is an exact 0.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..512" }
// tune   = { lanes = [8, 16, 32], vectors = [2, 4] }
// where  = ["cols <= 4 * lanes * vectors"]
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
// values = { nan = "row", pos_inf = "row" }
//
// [accuracy]  # a lane's vectors, two adds of its four sums, its element of the edge; then the halvings
// adds     = "ceil_div(cols, 4 * lanes) + 2 + ceil_log2(min(lanes, min(cols, max(6, cols / 4))))"
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// entry = "softmax_lanes_a_row<float, {lanes}, {vectors}>"
// grid  = "ceil_div(rows, 64 / lanes)"
// block = "64"
// ///

#include "one_at_a_time.cuh"

template <class E, int LANES, int VECTORS, int THREADS = 64, Loads LOADS = KEPT>
__global__ void __launch_bounds__(THREADS) softmax_lanes_a_row(E *__restrict__ y, const E *__restrict__ x, int rows, int cols) {
    // y and x are (rows, cols); LANES a row, 2 * width - 2 or more
    constexpr int width = Vector<E>::width;
    const unsigned int index = blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;  // may pass rows - 1
    const int lane = threadIdx.x % LANES;  // ranges [0, LANES)
    const bool is_row = index < static_cast<unsigned int>(rows);  // others have no column, and take part in the shuffles all the same
    const Row<E> row(x, is_row ? index : 0, is_row ? cols : 0);

    Vector<E> mine[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (lane + k * LANES < row.vectors) {
            mine[k] = row.template load<LOADS>(lane, k * LANES);
        } else {
#pragma unroll
            for (int j = 0; j < width; ++j) {
                mine[k].of[j] = -INFINITY;
            }
        }
    }
    const int col = row.edge(lane);
    float edge = row.template element<LOADS>(col, -INFINITY);
    // asked while all that is loaded is on its way
    if (!is_placed_alike(y, x)) {
        return softmax_one_at_a_time<LANES>(y, x, is_row ? index : 0, is_row ? cols : 0);
    }
    float tops[4] = {edge, -INFINITY, -INFINITY, -INFINITY};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
        for (int j = 0; j < width; ++j) {
            tops[j % 4] = fmaxf(tops[j % 4], mine[k].of[j]);
        }
    }
    const float max = lanes_max<LANES>(fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3])));

    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
        for (int j = 0; j < width; ++j) {
            mine[k].of[j] = exponential<E>(mine[k].of[j] - max);
            sums[j % 4] += mine[k].of[j];
        }
    }
    edge = exponential<E>(edge - max);
    const float scale = 1.0f / lanes_sum<LANES>(((sums[0] + sums[1]) + (sums[2] + sums[3])) + edge);

    y += static_cast<size_t>(is_row ? index : 0) * cols;
    E *const to = y + row.head + width * lane;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (lane + k * LANES < row.vectors) {
            narrow<true>(to + width * k * LANES, scaled(mine[k], scale));
        }
    }
    store_edge<true>(y, col, edge * scale);
}
