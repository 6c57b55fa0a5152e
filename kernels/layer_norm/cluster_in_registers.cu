// Layer norm of rows by clusters of blocks that hold a row in registers: read once, written once.
//
// Each warp tells its sum, and its squares about its own mean, to all blocks of the cluster: the blocks meet once a row. A block
// has the same columns of each row. With `apiece` rows for a cluster its part of the weights stays in shared memory: read from
// the second-level cache for each row, they are twice as many bytes as the row, and that cache is the limit from 131,072 floats on.
// If `ahead`, the next row is copied into shared memory while one is computed; otherwise more blocks run at once. Each row has a
// place of its own for what the warps tell, so that no warp waits until the others have read.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..134217727", cols = "1..262144" }
// tune   = { cluster = [2, 4, 8, 16], threads = [256, 512], apiece = [1, 8], ahead = [0, 1] }
// where  = ["cols <= 32 * threads * cluster", "ahead < apiece"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [let]
// share = "ceil_div(ceil_div(cols / 4, cluster), 4) * 4"  # vectors of a block
//
// [accuracy]  # a thread's vectors, two adds of its sums, the edge; then the halvings, of threads and of blocks
// form      = "welford"
// adds      = "ceil_div(share, threads) + 2 + ceil_log2(min(threads, max(18, share))) + ceil_log2(cluster)"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry   = "layer_norm_cluster_in_registers<float, {threads}, 8, {cluster}, {apiece}, {ahead}>"
// grid    = "cluster * ceil_div(rows, apiece)"
// cluster = "cluster"
// block   = "threads"
// shared  = "(ahead + 2) * 16 * 8 * threads if apiece > 1 else 0"
// ///

#include "../rows_of_cluster.cuh"
#include "mean_and_squares.cuh"

template <class E, int THREADS, int VECTORS, int CLUSTER, int ROWS, bool IS_AHEAD>
__global__ void __launch_bounds__(THREADS, resident_rows(THREADS, VECTORS, ROWS > 1 ? IS_AHEAD + 2 : 0))
layer_norm_cluster_in_registers(E *__restrict__ y, const E *__restrict__ x, const E *__restrict__ w,
                                const E *__restrict__ b, int rows, int cols) {
    // y and x are (rows, cols), w and b are (cols); a cluster has each gridDim.x / CLUSTER-th row, ROWS of them at most
    constexpr int width = Vector<E>::width;
    __shared__ OfWarps<float4, THREADS, CLUSTER> of_warps[ROWS];
    RowsOfCluster<E, THREADS, VECTORS, CLUSTER, ROWS, IS_AHEAD, 2> mine(of_warps, x, cols);
    mine.keep(0, w);
    mine.keep(1, b);
    for (int turn = 0; turn < ROWS && mine.take_row(x, rows, cols); ++turn) {
        const float4 of_warp = parts_of_warp(mine);
        if (turn == 0) {
            all_have_begun<CLUSTER>();
        }
        const float2 moments = mean_and_squares(of_warp, cols, of_warps[turn]);
        const float mean = moments.x;
        const float scale = rsqrtf(moments.y / cols + 1e-5f);

        E *const to = y + static_cast<size_t>(mine.index) * cols;
        const bool is_aligned = is_placed_alike(to, mine.row.x);
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            mine.forget(k);
            if (mine.has(k)) {
                Vector<E> v = mine.floats(k);
                const Vector<E> by = mine.kept_floats(0, w, k), plus = mine.kept_floats(1, b, k);
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    v.of[j] = (v.of[j] - mean) * scale * by.of[j] + plus.of[j];
                }
                if (is_aligned) {
                    narrow(to + mine.place(k), v);
                } else {
                    store_singly(to + mine.place(k), v);
                }
            }
        }
        if (mine.col >= 0) {
            to[mine.col] = static_cast<E>((mine.edge - mean) * scale * static_cast<float>(w[mine.col]) + static_cast<float>(b[mine.col]));
        }
    }
}
