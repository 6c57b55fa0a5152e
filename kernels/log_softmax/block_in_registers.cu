// Log-softmax of each row by a block that holds it in registers as it lies in memory: read once, written once, one barrier.
//
// Each warp sums relative to its own maximum, so that the block meets once, as in softmax/packed_in_registers. The answer is
// (x - max) - log(sum): x - (max + log(sum)) loses digits where the maximum is large.
//
// /// kernel
// op     = "log_softmax"
// axes   = { rows = "1..2147483647", cols = "1..32768" }
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 4 * threads * vectors"]
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// form      = "x - m - log s"
// adds      = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// rescales  = 1
// shift     = "running max"
// exp       = "expf"
// functions = { log = "logf" }
//
// [[launch]]
// entry = "log_softmax_block_in_registers<float, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "../held_row.cuh"
#include "../softmax/parts_joined.cuh"

template <class E, int THREADS, int VECTORS, int CLUSTER = 1>
__global__ void __launch_bounds__(THREADS, resident_packed_blocks(THREADS, VECTORS))
log_softmax_block_in_registers(E *__restrict__ y, const E *__restrict__ x, int cols) {
    // y and x are (rows, cols); a block a row, or a cluster
    constexpr int width = Vector<E>::width;
    __shared__ OfWarps<float2, THREADS, CLUSTER> of_warps;
    of_warps.begin();
    begin_together<CLUSTER>();
    HeldRow<E, THREADS, VECTORS, CLUSTER> mine(x, cols, packed_nothing<E>(), -INFINITY);
    y += static_cast<size_t>(blockIdx.x / CLUSTER) * cols;

    const float2 all = maximum_and_sum(mine, of_warps);
    const float max = all.x;
    const float logarithm = logf(all.y);

    const bool is_aligned = is_placed_alike(y, mine.row.x);
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        mine.forget(k);
        if (mine.has(k)) {
            Vector<E> v = mine.floats(k);
#pragma unroll
            for (int j = 0; j < width; ++j) {
                v.of[j] = (v.of[j] - max) - logarithm;
            }
            if (is_aligned) {
                narrow(y + mine.place(k), v);
            } else {
                store_singly(y + mine.place(k), v);
            }
        }
    }
    store_edge(y, mine.col, (mine.edge - max) - logarithm);
}
