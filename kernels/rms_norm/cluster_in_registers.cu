// RMS norm of rows by clusters of blocks that hold a row in registers: read once, written once.
//
// As in layer_norm/cluster_in_registers: with `apiece` rows for a cluster, a block's part of the weights stays in shared memory, and
// if `ahead`, the next row is on its way there while one is computed. Each warp tells its sum of squares to all blocks.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..134217727", cols = "1..262144" }
// tune   = { cluster = [2, 4, 8, 16], threads = [256, 512], apiece = [1, 8], ahead = [0, 1] }
// where  = ["cols <= 32 * threads * cluster", "ahead < apiece"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [let]
// share = "ceil_div(ceil_div(cols / 4, cluster), 4) * 4"  # vectors of a block
//
// [accuracy]  # a thread's vectors, two adds of its sums, the edge; then the halvings, of threads and of blocks
// adds      = "ceil_div(share, threads) + 2 + ceil_log2(min(threads, max(18, share))) + ceil_log2(cluster)"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry   = "rms_norm_cluster_in_registers<float, {threads}, 8, {cluster}, {apiece}, {ahead}>"
// grid    = "cluster * ceil_div(rows, apiece)"
// cluster = "cluster"
// block   = "threads"
// shared  = "(ahead + 1) * 16 * 8 * threads if apiece > 1 else 0"
// ///

#include "../rows_of_cluster.cuh"

template <class E, int THREADS, int VECTORS, int CLUSTER, int ROWS, bool IS_AHEAD>
__global__ void __launch_bounds__(THREADS, resident_rows(THREADS, VECTORS, ROWS > 1 ? IS_AHEAD + 1 : 0))
rms_norm_cluster_in_registers(E *__restrict__ y, const E *__restrict__ x, const E *__restrict__ w, int rows, int cols) {
    // y and x are (rows, cols), w is (cols); a cluster has each gridDim.x / CLUSTER-th row, ROWS of them at most
    constexpr int width = Vector<E>::width;
    __shared__ OfWarps<float, THREADS, CLUSTER> of_warps[ROWS];
    RowsOfCluster<E, THREADS, VECTORS, CLUSTER, ROWS, IS_AHEAD, 1> mine(of_warps, x, cols);
    mine.keep(0, w);
    for (int turn = 0; turn < ROWS && mine.take_row(x, rows, cols); ++turn) {
        float sums[4] = {mine.edge * mine.edge, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            const Vector<E> v = mine.floats(k);
#pragma unroll
            for (int j = 0; j < width; ++j) {
                sums[j % 4] += v.of[j] * v.of[j];
            }
        }
        if (turn == 0) {
            all_have_begun<CLUSTER>();
        }
        const float sum = sum_of_row((sums[0] + sums[1]) + (sums[2] + sums[3]), of_warps[turn]);
        const float scale = rsqrtf(sum / cols + 1e-6f);

        E *const to = y + static_cast<size_t>(mine.index) * cols;
        const bool is_aligned = is_placed_alike(to, mine.row.x);
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            mine.forget(k);
            if (mine.has(k)) {
                Vector<E> v = mine.floats(k);
                const Vector<E> by = mine.kept_floats(0, w, k);
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    v.of[j] = v.of[j] * scale * by.of[j];
                }
                if (is_aligned) {
                    narrow(to + mine.place(k), v);
                } else {
                    store_singly(to + mine.place(k), v);
                }
            }
        }
        if (mine.col >= 0) {
            to[mine.col] = static_cast<E>(mine.edge * scale * static_cast<float>(w[mine.col]));
        }
    }
}
