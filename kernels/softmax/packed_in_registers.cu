// Softmax of each row in bfloat16 by a block that holds it in registers as it lies in memory, two elements a register.
//
// block_in_registers keeps the floats of a row, and of 16,384 elements of 16 bits these take all registers of a
// multiprocessor. Kept as they are they take half, so that several blocks run at once, and the next row is on its
// way while this one is computed. Each use makes floats of them again, which costs one instruction an element; maxima take
// half an instruction, since two elements are compared at once. Each warp sums relative to its own maximum, so that the
// block meets once.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..32768" }
// tune   = { threads = [64, 256, 512], vectors = [2, 5, 8] }
// where  = ["cols <= 8 * threads * vectors"]
// arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors give each of its four sums two terms; its element of the edge; then the halvings
// adds     = "2 * ceil_div(cols, 8 * threads) + 2 + ceil_log2(min(threads, min(cols, max(38, cols / 8))))"
// rescales = 1
// shift    = "running max"
// exp      = "__expf"
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [[launch]]
// entry = "softmax_packed_in_registers<__nv_bfloat16, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// args  = ["y", "x", "cols"]
// ///

#include "../packed.cuh"
#include "one_at_a_time.cuh"
#include "parts_joined.cuh"

template <class E, int THREADS, int VECTORS>
__global__ void __launch_bounds__(THREADS, resident_packed_blocks(THREADS, VECTORS))
softmax_packed_in_registers(E *__restrict__ y, const E *__restrict__ x, int cols) {
    // y and x are (rows, cols); a block a row
    constexpr int width = Vector<E>::width;
    __shared__ float2 of_warp[THREADS / 32];
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    const BlockRow<E> row(x, blockIdx.x, cols);

    Packed<E> mine[VECTORS];
    const E *const from = row.x + row.head + width * tid;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        mine[k] = packed_nothing<E>();
        if (tid + k * THREADS < row.vectors) {
            mine[k].words = *reinterpret_cast<const uint4 *>(kept(from + width * k * THREADS));
        }
    }
    const int col = row.edge(tid);
    const float edge = row.element(col, -INFINITY);
    if (!is_placed_alike(y, x)) {
        return softmax_one_at_a_time<THREADS>(y, x, blockIdx.x, cols);
    }
    Packed<E> tops = mine[0];
#pragma unroll
    for (int k = 1; k < VECTORS; ++k) {
        tops = larger_of(tops, mine[k]);
    }
    const float top = warp_max(fmaxf(edge, largest_in(tops)));
    const float below = finite_or_zero(top);

    float sums[4] = {exponential<E>(edge - below), 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const Vector<E> v = floats_in(mine[k]);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            sums[j % 4] += exponential<E>(v.of[j] - below);
        }
    }
    const float sum = lanes_sum<32>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (tid % 32 == 0) {
        of_warp[tid / 32] = make_float2(top, sum);
    }
    __syncthreads();
    const float2 all = lanes_joined<THREADS / 32>(of_warp[tid % (THREADS / 32)]);
    const float max = all.x;  // of a row of nothing but -inf it is -inf, and the row becomes NaN, as is right
    const float scale = 1.0f / all.y;

    y += static_cast<size_t>(blockIdx.x) * cols;
    E *const to = y + row.head + width * tid;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        forget(mine[k]);
        Vector<E> v = floats_in(mine[k]);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            v.of[j] = exponential<E>(v.of[j] - max) * scale;
        }
        if (tid + k * THREADS < row.vectors) {
            narrow(to + width * k * THREADS, v);
        }
    }
    store_edge(y, col, exponential<E>(edge - max) * scale);
}
