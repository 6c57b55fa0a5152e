// Softmax of long rows by clusters that stay: bulk copies bring the next rows while some warps add up one and others write another.
//
// row_in_cluster has a cluster for each row, and its blocks wait three times: for the row, for the other blocks, and for what
// they write. Here a cluster goes from row to row. Each block has room for the share of several rows. One warp asks for rows,
// as soon as there is room. Half of the other warps reduce a row and exchange the results with the other blocks; the other half
// computes and writes the row before it. They meet at mbarriers: `full` when a share has come, `ready` when the row's maximum
// and sum are known, `freed` when nothing of the share is needed any more. No barrier stops all threads, and memory is never idle.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..134217727", cols = "1..458752" }
// tune   = { cluster = [1, 2, 4], clusters = [1, 3, 30], threads = [128, 512], stages = [2, 3, 4] }
// where  = ["stages * cols <= 114688 * cluster", "threads * cluster <= 512"]
// arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
// align  = 4
//
// [let]
// share  = "ceil_div(ceil_div(cols / 8, cluster), 8) * 8"  # vectors of a block
// held   = "min(share, ceil_div(cols, 8))"
// blocks = "max(1, min(cluster, ceil_div(cols / 8, max(share, 1))))"  # that have any
//
// [accuracy]  # a thread's vectors give each of its four sums two terms; its element of the edge; then the halvings
// adds     = "2 * ceil_div(held, threads / 2) + 2 + ceil_log2(min(threads / 2, min(cols, max(38, held)))) + ceil_log2(blocks)"
// rescales = 2  # to the maximum of the block, and to that of the row
// shift    = "running max"
// exp      = "__expf"
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [[launch]]
// entry   = "softmax_rows_through_clusters<__nv_bfloat16, {cluster}, {threads}, {stages}>"
// grid    = "cluster * min(rows, clusters)"  # an H200 has room for 30 clusters of 4 blocks, or 15 of 8
// cluster = "cluster"
// block   = "threads + 32"
// shared  = "stages * 16 * share"
// args    = ["y", "x", "rows", "share", "cols"]
// ///

#include <cooperative_groups.h>
#include <cuda/ptx>

#include "../packed.cuh"
#include "parts_joined.cuh"

namespace ptx = cuda::ptx;

__device__ __forceinline__ void wait_for(uint64_t *barrier, int passes) {
    // until so many of its phases are over, and one more
    while (!ptx::mbarrier_try_wait_parity(barrier, passes % 2)) {
    }
}

// What a block has of one row: vectors [begin, begin + count), and in the first block the edge.
template <class E>
struct ShareOfRow {
    BlockRow<E> row;
    bool has_edge;
    int begin;
    int count;  // ranges [0, share]

    __device__ __forceinline__ ShareOfRow(const E *x, int index, int rank, int share, int cols) : row(x, index, cols) {
        has_edge = rank == 0;
        begin = min(rank * share, row.vectors);
        count = min(share, row.vectors - begin);
    }

    __device__ __forceinline__ int place(int i) const {
        return row.head + Vector<E>::width * (begin + i);
    }

    __device__ __forceinline__ int edge(int worker) const {
        return has_edge ? row.edge(worker) : -1;
    }
};

template <class E, int CLUSTER, int THREADS, int STAGES>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS + 32)
softmax_rows_through_clusters(E *__restrict__ y, const E *__restrict__ x, int rows, int share, int cols) {
    // y and x are (rows, cols); `share` vectors of a row a block
    constexpr int width = Vector<E>::width, workers = THREADS / 2, warps = workers / 32, at_once = 512;
    extern __shared__ uint4 held[];  // (STAGES, share)
    __shared__ uint64_t full[STAGES], ready[STAGES], freed[STAGES], exchanged[2];
    __shared__ float2 of_warp[2][warps];
    __shared__ float2 of_block[2][CLUSTER];
    __shared__ float2 of_row[STAGES];  // the maximum, and the reciprocal of the sum
    const int tid = threadIdx.x;  // ranges [0, THREADS + 32)
    const int rank = blockIdx.x % CLUSTER, first = blockIdx.x / CLUSTER, step = gridDim.x / CLUSTER;

    if (tid == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            ptx::mbarrier_init(&full[stage], 1);
            ptx::mbarrier_init(&ready[stage], 1);
            ptx::mbarrier_init(&freed[stage], warps);
        }
        ptx::mbarrier_init(&exchanged[0], CLUSTER);
        ptx::mbarrier_init(&exchanged[1], CLUSTER);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    cluster.sync();

    int index = 0;  // of the row, among those of this cluster
    if (tid >= THREADS) {
        for (int at = first; tid == THREADS && at < rows; at += step, ++index) {
            const int stage = index % STAGES;
            const ShareOfRow<E> mine(x, at, rank, share, cols);
            if (index >= STAGES) {
                wait_for(&freed[stage], index / STAGES - 1);
            }
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], 16 * mine.count);
            for (int i = 0; i < mine.count; i += at_once) {
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, &held[stage * share + i], mine.row.x + mine.place(i),
                                   16 * min(at_once, mine.count - i), &full[stage]);
            }
        }
    } else if (tid < workers) {
        for (int at = first; at < rows; at += step, ++index) {
            const int stage = index % STAGES, turn = index % 2;
            const ShareOfRow<E> mine(x, at, rank, share, cols);
            const uint4 *const vectors = held + stage * share;
            const int col = mine.edge(tid);
            const float edge = col >= 0 ? static_cast<float>(mine.row.x[col]) : -INFINITY;
            wait_for(&full[stage], index / STAGES);

            Packed<E> tops = packed_nothing<E>();
#pragma unroll 4
            for (int i = tid; i < mine.count; i += workers) {
                tops = larger_of(tops, Packed<E>{vectors[i]});
            }
            const float top = warp_max(fmaxf(edge, largest_in(tops)));
            const float below = finite_or_zero(top);
            float sums[4] = {exponential<E>(edge - below), 0.0f, 0.0f, 0.0f};
#pragma unroll 4
            for (int i = tid; i < mine.count; i += workers) {
                const Vector<E> v = floats_in(Packed<E>{vectors[i]});
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    sums[j % 4] += exponential<E>(v.of[j] - below);
                }
            }
            const float sum = lanes_sum<32>((sums[0] + sums[1]) + (sums[2] + sums[3]));
            if (tid % 32 == 0) {
                of_warp[turn][tid / 32] = make_float2(top, sum);
            }
            asm volatile("barrier.sync 1, %0;" ::"n"(workers) : "memory");  // those that reduce
            if (tid < 32) {
                float2 all = lanes_joined<warps>(of_warp[turn][tid % warps]);
                if (tid < CLUSTER) {
                    *cluster.map_shared_rank(&of_block[turn][rank], tid) = all;
                    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                         cluster.map_shared_rank(&exchanged[turn], tid));
                }
                while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &exchanged[turn], index / 2 % 2)) {
                }
                all = lanes_joined<CLUSTER>(of_block[turn][tid % CLUSTER]);
                if (tid == 0) {
                    of_row[stage] = make_float2(all.x, 1.0f / all.y);
                    ptx::mbarrier_arrive(&ready[stage]);
                }
            }
        }
    } else {
        const int worker = tid - workers;
        for (int at = first; at < rows; at += step, ++index) {
            const int stage = index % STAGES;
            const ShareOfRow<E> mine(x, at, rank, share, cols);
            const uint4 *const vectors = held + stage * share;
            E *const row = y + static_cast<size_t>(at) * cols;
            E *const to = row + mine.place(0);
            const int col = mine.edge(worker);
            const float edge = col >= 0 ? static_cast<float>(mine.row.x[col]) : -INFINITY;
            const bool is_aligned = is_placed_alike(y, x);
            wait_for(&ready[stage], index / STAGES);
            wait_for(&full[stage], index / STAGES);  // is over, but a thread sees what a copy brought only behind its own wait
            const float max = of_row[stage].x;  // of a row of nothing but -inf it is -inf, and the row becomes NaN, as is right
            const float scale = of_row[stage].y;
#pragma unroll 4
            for (int i = worker; i < mine.count; i += workers) {
                Vector<E> v = floats_in(Packed<E>{vectors[i]});
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    v.of[j] = exponential<E>(v.of[j] - max) * scale;
                }
                if (is_aligned) {
                    narrow(to + width * i, v);
                } else {
                    store_singly(to + width * i, v);
                }
            }
            store_edge(row, col, exponential<E>(edge - max) * scale);
            __syncwarp();
            if (tid % 32 == 0) {
                ptx::mbarrier_arrive(&freed[stage]);
            }
        }
    }
    cluster.sync();  // no block sends to one that has ended
}
