// Softmax of each row by a cluster of blocks, which hold the row together in their shared memory (cp.async).
//
// Beyond 57,344 columns no block holds a row, and one that holds half as many leaves room for no other block beside it.
// Blocks of a cluster each hold a part, and tell each other what the parts come to: x is read once and y is written once
// up to 917,504 columns. While the copies are on their way, the blocks of a cluster learn that all have begun.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..134217727", cols = "1..917504" }
// tune   = { cluster = [2, 4, 8, 16], threads = [128, 256, 512] }
// where  = ["cols <= 57344 * cluster"]
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [let]
// share  = "ceil_div(ceil_div(cols / 4, cluster), 8) * 8"  # vectors of a block
// held   = "min(share, ceil_div(cols, 4))"
// blocks = "max(1, min(cluster, ceil_div(cols / 4, max(share, 1))))"  # that have any
//
// [accuracy]  # one add within a vector, a thread's vectors, its two sums; then the halvings, of threads and of blocks
// adds     = "ceil_div(held, threads) + 2 + ceil_log2(min(threads, min(cols, max(18, held)))) + ceil_log2(blocks)"
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [[launch]]
// entry   = "softmax_row_in_cluster<{cluster}, {threads}>"
// grid    = "cluster * rows"
// cluster = "cluster"
// block   = "threads"
// shared  = "16 * share"
// args    = ["y", "x", "share", "cols"]
// ///

#include "../cluster.cuh"

template <int CLUSTER, int THREADS>
__global__ void __launch_bounds__(THREADS)
softmax_row_in_cluster(float *__restrict__ y, const float *__restrict__ x, int share, int cols) {
    // y and x are (rows, cols); a cluster a row, `share` vectors of it a block
    extern __shared__ float4 held[];  // (share)
    __shared__ float max_of_warp[32];
    __shared__ float sum_of_warp[32];
    __shared__ float max_of_block[CLUSTER];
    __shared__ float sum_of_block[CLUSTER];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    cluster.barrier_arrive();
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    RowOfCluster<CLUSTER, THREADS> mine(x, cols, share, -INFINITY);
    y += static_cast<size_t>(blockIdx.x / CLUSTER) * cols;
    mine.load(held);

    float max = mine.edge;
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 v = held[i];
        max = fmaxf(max, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    max = block_max<THREADS>(max, max_of_warp);
    cluster.barrier_wait();  // all have begun
    max = cluster_max(max, max_of_block);

    const float edge = expf(mine.edge - max);
    float sum = edge, other = 0.0f;
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 v = held[i];
        const float4 e = make_float4(expf(v.x - max), expf(v.y - max), expf(v.z - max), expf(v.w - max));
        held[i] = e;
        sum += e.x + e.y;
        other += e.z + e.w;
    }
    const float of_block = block_sum<THREADS>(sum + other, sum_of_warp);
    const float scale = 1.0f / cluster_sum(of_block, sum_of_block);

    const bool is_aligned = is_placed_alike(y, mine.row.x);
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 e = held[i];
        const Vector<float> made = {{e.x * scale, e.y * scale, e.z * scale, e.w * scale}};
        if (is_aligned) {
            narrow(y + mine.place(i), made);
        } else {
            store_singly(y + mine.place(i), made);
        }
    }
    if (mine.col >= 0) {
        y[mine.col] = edge * scale;
    }
}
