// The gradient of a softmax by its answer y, by a block that holds rows of y and g in registers: dx = y (g - sum y g).
//
// Both rows are read once, as they lie in memory. As in softmax/packed_in_registers, threads and vectors a thread are
// template parameters, and __launch_bounds__ says how many blocks a multiprocessor runs at once.
//
// /// kernel
// op     = "softmax_backward"
// axes   = { rows = "1..2147483647", cols = "1..16384" }
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 4 * threads * vectors", "threads * vectors <= 4096"]
// arrays = { y = "f32[rows, cols] -> y", g = "f32[rows, cols] -> g", dx = "f32[rows, cols] <- dx" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// form = "y (g - s)"
// adds = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
//
// [[launch]]
// entry = "softmax_backward_block_in_registers<float, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "../held_row.cuh"

template <class E, int THREADS, int VECTORS, int CLUSTER = 1>
__global__ void __launch_bounds__(THREADS, resident_packed_blocks(THREADS, VECTORS > 4 ? 2 * VECTORS : 8))
softmax_backward_block_in_registers(E *__restrict__ dx, const E *__restrict__ y, const E *__restrict__ g, int cols) {
    // dx, y and g are (rows, cols); a block a row, or a cluster
    constexpr int width = Vector<E>::width;
    __shared__ OfWarps<float, THREADS, CLUSTER> sums_of_warps;
    sums_of_warps.begin();
    begin_together<CLUSTER>();
    HeldRow<E, THREADS, VECTORS, CLUSTER> mine(y, cols, packed_zeros<E>(), 0.0f);
    g += static_cast<size_t>(blockIdx.x / CLUSTER) * cols;
    dx += static_cast<size_t>(blockIdx.x / CLUSTER) * cols;
    const bool is_aligned = is_placed_alike(dx, mine.row.x) && is_placed_alike(g, mine.row.x);

    Packed<E> gradients[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (is_aligned && mine.has(k)) {
            gradients[k] = mine.packed_at(g, k);
        }
    }
    const float of_edge = mine.col >= 0 ? static_cast<float>(g[mine.col]) : 0.0f;
    float sums[4] = {mine.edge * of_edge, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (mine.has(k)) {
            const Vector<E> v = mine.floats(k);
            const Vector<E> of_v = is_aligned ? floats_in(gradients[k]) : load_singly(g + mine.place(k));
#pragma unroll
            for (int j = 0; j < width; ++j) {
                sums[j % 4] += v.of[j] * of_v.of[j];
            }
        }
    }
    all_have_begun<CLUSTER>();
    const float sum = sum_of_row((sums[0] + sums[1]) + (sums[2] + sums[3]), sums_of_warps);

#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        mine.forget(k);
        if (mine.has(k)) {
            Vector<E> v = mine.floats(k);
            forget(gradients[k]);
            const Vector<E> of_v = is_aligned ? floats_in(gradients[k]) : load_singly(g + mine.place(k));
#pragma unroll
            for (int j = 0; j < width; ++j) {
                v.of[j] = v.of[j] * (of_v.of[j] - sum);
            }
            if (is_aligned) {
                narrow(dx + mine.place(k), v);
            } else {
                store_singly(dx + mine.place(k), v);
            }
        }
    }
    store_edge(dx, mine.col, mine.edge * (of_edge - sum));
}
