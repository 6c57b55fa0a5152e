// Softmax of each short row by a few lanes of a warp: a row's vectors are in their registers, no barrier, no shared memory.
//
// A warp a row leaves lanes idle if a row has fewer than 128 columns, and a block of one row has nothing
// that hides the latency of its loads. Here 8 or 16 lanes hold a row of up to 256 columns in up to four
// float4 each, so that a warp has several rows in flight. Blocks are small, so a multiprocessor takes the
// next one as soon as two warps have finished: 1 % against blocks of 128; but lanes of a single vector need
// those, since a multiprocessor runs at most 32 blocks: an eighth. All vectors are requested before any is
// used. Maximum, then sum, then one reciprocal. The padding of a row is -inf, whose exp is an exact 0.
// What limits rows of 16 bits is the number of instructions: 5 % of 65536 x 128 in bfloat16 on an H200 are gained where rows
// are vectors alone, by code that knows of no edge, and by comparing two elements at once; 3 % by an exponential of two.
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

#include "../packed.cuh"
#include "one_at_a_time.cuh"

template <int LANES, int VECTORS, Loads LOADS, bool HAS_EDGE, class E>
__device__ __forceinline__ void softmax_by_lanes(E *y, const E *x, unsigned int index, int cols) {
    // y and x are (rows, cols)
    constexpr int width = Vector<E>::width;
    const int lane = threadIdx.x % LANES;  // ranges [0, LANES)
    Row<E> row(x, index, cols);
    if (!HAS_EDGE) {
        row.head = 0;
        row.vectors = cols / width;
    }
    Packed<E> mine[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        mine[k] = lane + k * LANES < row.vectors ? packed_in<LOADS>(row, lane, k * LANES) : packed_nothing<E>();
    }
    const int col = HAS_EDGE ? row.edge(lane) : -1;
    float edge = row.template element<LOADS>(col, -INFINITY);

    Packed<E> tops = mine[0];
#pragma unroll
    for (int k = 1; k < VECTORS; ++k) {
        tops = larger_of(tops, mine[k]);
    }
    const float max = lanes_max<LANES>(fmaxf(edge, largest_in(tops)));

    Vector<E> powers[VECTORS];
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        powers[k] = floats_in(mine[k]);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            powers[k].of[j] = lifted_exponential<E>(powers[k].of[j] - max);
            sums[j % 4] += powers[k].of[j];
        }
    }
    edge = HAS_EDGE ? lifted_exponential<E>(edge - max) : 0.0f;
    const float scale = 1.0f / lanes_sum<LANES>(((sums[0] + sums[1]) + (sums[2] + sums[3])) + edge);

    y += static_cast<size_t>(index) * cols;
    E *const to = y + row.head + width * lane;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (lane + k * LANES < row.vectors) {
            narrow<true>(to + width * k * LANES, scaled(powers[k], scale));
        }
    }
    store_edge<true>(y, col, edge * scale);
}

template <class E, int LANES, int VECTORS, int THREADS = 64, Loads LOADS = KEPT>
__global__ void __launch_bounds__(THREADS) softmax_lanes_a_row(E *__restrict__ y, const E *__restrict__ x, int rows, int cols) {
    // y and x are (rows, cols); LANES a row, 2 * width - 2 or more
    const unsigned int place = blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;  // may pass rows - 1
    const bool is_row = place < static_cast<unsigned int>(rows);  // others have no column, and take part in the shuffles all the same
    const unsigned int index = is_row ? place : 0;
    const int count = is_row ? cols : 0;
    if (cols % Vector<E>::width == 0 && (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 16 == 0) {
        softmax_by_lanes<LANES, VECTORS, LOADS, false>(y, x, index, count);
    } else if (is_placed_alike(y, x)) {
        softmax_by_lanes<LANES, VECTORS, LOADS, true>(y, x, index, count);
    } else {
        softmax_one_at_a_time<LANES>(y, x, index, count);
    }
}
