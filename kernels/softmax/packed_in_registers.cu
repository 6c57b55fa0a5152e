// Softmax of each row in bfloat16 by a block that holds it in registers as it lies in memory, two elements a register.
//
// block_in_registers keeps the floats of a row, and of 16,384 elements of 16 bits these take all registers of a
// multiprocessor. Kept as they are they take half, so that several blocks run at once, and the next row is on its
// way while this one is computed. Each use makes floats of them again, which costs one instruction an element; maxima take
// half an instruction, since two elements are compared at once. Each warp sums relative to its own maximum, so that the
// block meets once. Of more than eight vectors a thread 768 threads still run at once: a seventh more than 512 of 1024 x 262144
// floats. Instructions limit it on an H200: __expf takes six, and one is enough if no answer can be a denormal float.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..32768" }
// tune   = { threads = [64, 256, 512], vectors = [2, 5, 8] }
// where  = ["cols <= 8 * threads * vectors"]
// arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
// align  = 4
// values = { nan = "row", pos_inf = "row" }
//
// [accuracy]  # a thread's vectors give each of its four sums two terms; its element of the edge; then the halvings
// adds     = "2 * ceil_div(cols, 8 * threads) + 2 + ceil_log2(min(threads, min(cols, max(38, cols / 8))))"
// rescales = 1
// shift    = "running max"
// exp      = [7, 2.346]  # that of __expf, and the rounding of 8 + x log2(e) for x near 0
// divide   = "reciprocal"
//
// [[launch]]
// entry = "softmax_packed_in_registers<__nv_bfloat16, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "parts_joined.cuh"

template <class E, int THREADS, int VECTORS, int CLUSTER = 1>
__global__ void __launch_bounds__(THREADS, VECTORS > 8 ? 768 / THREADS : resident_packed_blocks(THREADS, VECTORS))
softmax_packed_in_registers(E *__restrict__ y, const E *__restrict__ x, int cols) {
    // y and x are (rows, cols); a block a row, or a cluster
    constexpr int width = Vector<E>::width;
    __shared__ OfWarps<float2, THREADS, CLUSTER> of_warps;
    of_warps.begin();
    begin_together<CLUSTER>();
    HeldRow<E, THREADS, VECTORS, CLUSTER> mine(x, cols, packed_nothing<E>(), -INFINITY);
    y += static_cast<size_t>(blockIdx.x / CLUSTER) * cols;

    const float2 all = maximum_and_sum(mine, of_warps);
    const float max = all.x;
    const float scale = 1.0f / LIFT<E> / all.y;

    const bool is_aligned = is_placed_alike(y, mine.row.x);
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        mine.forget(k);
        if (mine.has(k)) {
            Vector<E> v = mine.floats(k);
#pragma unroll
            for (int j = 0; j < width; ++j) {
                v.of[j] = lifted_exponential<E>(v.of[j] - max) * scale;
            }
            if (is_aligned) {
                narrow(y + mine.place(k), v);
            } else {
                store_singly(y + mine.place(k), v);
            }
        }
    }
    store_edge(y, mine.col, lifted_exponential<E>(mine.edge - max) * scale);
}
