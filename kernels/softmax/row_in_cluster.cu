// Softmax of each row by a cluster of blocks, which together hold the row in their shared memory (cp.async).
//
// Beyond 57,344 columns no block holds a row, and one that holds half as many leaves no room for another block.
// Each block of a cluster holds a part, and they exchange the parts' results: x is read once and y is written
// once up to 917,504 columns. During the copies, the blocks of a cluster learn that all have begun. A barrier of
// a cluster costs a microsecond, and exponentials cost little: so each warp sums relative to its own maximum,
// maxima and sums are exchanged together, and the exps are computed again for the output. That gains 3 to 5
// points, and __cluster_dims__ 2 to 3: if the compiler knows the cluster, no barrier checks whether there is one.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..134217727", cols = "1..917504" }
// tune   = { cluster = [2, 4, 8, 16], threads = [32, 128, 256, 512] }
// where  = ["cols <= 57344 * cluster"]
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
// values = { nan = "row", pos_inf = "row" }
//
// [let]
// share  = "ceil_div(ceil_div(cols / 4, cluster), 8) * 8"  # vectors of a block
// held   = "min(share, ceil_div(cols, 4))"
// blocks = "max(1, min(cluster, ceil_div(cols / 4, max(share, 1))))"  # that have any
//
// [accuracy]  # one add within a vector, a thread's vectors, its two sums; then the halvings, of threads and of blocks
// adds     = "ceil_div(held, threads) + 2 + ceil_log2(min(threads, min(cols, max(18, held)))) + ceil_log2(blocks)"
// rescales = 2  # to the maximum of the block, and to that of the row
// shift    = "running max"
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// entry   = "softmax_row_in_cluster<{cluster}, {threads}>"
// grid    = "cluster * rows"
// cluster = "cluster"
// block   = "threads"
// shared  = "16 * share"
// ///

#include "../cluster.cuh"
#include "parts_joined.cuh"

template <int CLUSTER, int THREADS>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
softmax_row_in_cluster(float *__restrict__ y, const float *__restrict__ x, int share, int cols) {
    // y and x are (rows, cols); a cluster a row, `share` vectors of it a block
    extern __shared__ float4 held[];  // (share)
    __shared__ float2 of_warp[THREADS / 32];
    __shared__ float2 of_block[CLUSTER];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    cluster.barrier_arrive();
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    RowOfCluster<CLUSTER, THREADS> mine(x, cols, share, -INFINITY);
    y += static_cast<size_t>(blockIdx.x / CLUSTER) * cols;
    mine.load(held);

    float top = mine.edge;
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 v = held[i];
        top = fmaxf(top, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    top = lanes_max<32>(top);
    const float below = finite_or_zero(top);
    float sum = expf(mine.edge - below), other = 0.0f;
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 v = held[i];
        sum += expf(v.x - below) + expf(v.y - below);
        other += expf(v.z - below) + expf(v.w - below);
    }
    sum = lanes_sum<32>(sum + other);
    if (tid % 32 == 0) {
        of_warp[tid / 32] = make_float2(top, sum);
    }
    __syncthreads();
    const float2 here = lanes_joined<THREADS / 32>(of_warp[tid % (THREADS / 32)]);
    cluster.barrier_wait();  // all have begun
    send_to_all(here, of_block);
    const float2 all = lanes_joined<CLUSTER>(of_block[tid % CLUSTER]);
    const float max = all.x;  // of a row of nothing but -inf it is -inf, and the row becomes NaN, as is right
    const float scale = 1.0f / all.y;

    float *const to = y + mine.place(0);
    const bool is_aligned = is_placed_alike(y, mine.row.x);
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 v = held[i];
        const Vector<float> made = {{expf(v.x - max) * scale, expf(v.y - max) * scale,
                                     expf(v.z - max) * scale, expf(v.w - max) * scale}};
        if (is_aligned) {
            narrow(to + 4 * i, made);
        } else {
            store_singly(to + 4 * i, made);
        }
    }
    if (mine.col >= 0) {
        y[mine.col] = expf(mine.edge - max) * scale;
    }
}
