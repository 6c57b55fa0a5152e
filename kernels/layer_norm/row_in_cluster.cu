// Layer norm of each row by a cluster of blocks, which together hold the row in their shared memory (cp.async).
//
// As in softmax/row_in_cluster: rows that are too long for the registers of a block are still read once. Two passes
// over shared memory, first the mean and then the squared differences; after each the blocks exchange a sum.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..134217727", cols = "1..917504" }
// tune   = { cluster = [2, 4, 8, 16], threads = [32, 128, 256, 512] }
// where  = ["cols <= 57344 * cluster"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [let]
// share  = "ceil_div(ceil_div(cols / 4, cluster), 8) * 8"  # vectors of a block
// held   = "min(share, ceil_div(cols, 4))"
// blocks = "max(1, min(cluster, ceil_div(cols / 4, max(share, 1))))"  # that have any
//
// [accuracy]  # one add within a vector, a thread's vectors, its two sums; then the halvings, of threads and of blocks
// form      = "two pass"
// adds      = "ceil_div(held, threads) + 2 + ceil_log2(min(threads, min(cols, max(18, held)))) + ceil_log2(blocks)"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry   = "layer_norm_row_in_cluster<{cluster}, {threads}>"
// grid    = "cluster * rows"
// cluster = "cluster"
// block   = "threads"
// shared  = "16 * share"
// ///

#include "../cluster.cuh"

template <int CLUSTER, int THREADS>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
layer_norm_row_in_cluster(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ w,
                          const float *__restrict__ b, int share, int cols) {
    // y and x are (rows, cols), w and b are (cols); a cluster a row, `share` vectors of it a block
    extern __shared__ float4 held[];  // (share)
    __shared__ float sum_of_warp[32];
    __shared__ float squares_of_warp[32];
    __shared__ float sum_of_block[CLUSTER];
    __shared__ float squares_of_block[CLUSTER];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    cluster.barrier_arrive();
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    RowOfCluster<CLUSTER, THREADS> mine(x, cols, share, 0.0f);
    y += static_cast<size_t>(blockIdx.x / CLUSTER) * cols;
    mine.load(held);

    float sum = mine.edge, other = 0.0f;
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 v = held[i];
        sum += v.x + v.y;
        other += v.z + v.w;
    }
    const float of_block = block_sum<THREADS>(sum + other, sum_of_warp);
    cluster.barrier_wait();  // all have begun
    const float mean = cluster_sum(of_block, sum_of_block) / cols;

    const float edge = mine.col >= 0 ? mine.edge - mean : 0.0f;
    float squares = edge * edge, others = 0.0f;
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 v = held[i];
        const float4 d = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
        held[i] = d;
        squares += d.x * d.x + d.y * d.y;
        others += d.z * d.z + d.w * d.w;
    }
    const float squares_here = block_sum<THREADS>(squares + others, squares_of_warp);
    const float scale = rsqrtf(cluster_sum(squares_here, squares_of_block) / cols + 1e-5f);

    const bool is_aligned =
        is_placed_alike(y, mine.row.x) && is_placed_alike(w, mine.row.x) && is_placed_alike(b, mine.row.x);
#pragma unroll 4
    for (int i = tid; i < mine.count; i += THREADS) {
        const float4 d = held[i];
        const int place = mine.place(i);
        Vector<float> made = {{d.x, d.y, d.z, d.w}};
        if (is_aligned) {
            Vector<float> weights, biases;
            widen(weights, w + place);
            widen(biases, b + place);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                made.of[j] = made.of[j] * scale * weights.of[j] + biases.of[j];
            }
            narrow(y + place, made);
        } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                made.of[j] = made.of[j] * scale * w[place + j] + b[place + j];
            }
            store_singly(y + place, made);
        }
    }
    if (mine.col >= 0) {
        y[mine.col] = edge * scale * w[mine.col] + b[mine.col];
    }
}
