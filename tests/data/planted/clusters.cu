// Kernels in clusters, wrong and correct. Marks name each finding on its line.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void behind_the_array(float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = 1;
    cluster.sync();
    y[cluster.thread_rank()] = cluster.map_shared_rank(mine, 1 - cluster.block_rank())[threadIdx.x + 1];  //~ error: out-of-bounds
    cluster.sync();
}

__global__ void no_such_block(float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = 1;
    cluster.sync();
    y[cluster.thread_rank()] = cluster.map_shared_rank(mine, cluster.num_blocks())[threadIdx.x];  //~ error: illegal-address
    cluster.sync();
}

__global__ void nobody_writes(float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    const float *theirs = cluster.map_shared_rank(mine, 1 - cluster.block_rank());
    y[cluster.thread_rank()] = theirs[threadIdx.x] > 0 ? 1 : 2;  //~ error: uninitialised
    cluster.sync();
}

__global__ void arrives_twice(float *y) {
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();
    cluster.barrier_arrive();  //~ error: divergent-barrier
    cluster.barrier_wait();
    y[cluster.thread_rank()] = 0;
}

__global__ void waits_at_once(float *y) {
    cg::this_cluster().barrier_wait();  //~ error: divergent-barrier
    y[cg::this_cluster().thread_rank()] = 0;
}

__global__ void flag_of_the_other(float *y) {
    // a message by atomics in the shared memory of another block, where no barrier is
    __shared__ unsigned int flag;
    __shared__ float value;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        flag = 0;
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        const int other = 1 - cluster.block_rank();
        *cluster.map_shared_rank(&value, other) = 1 + cluster.block_rank();
        __threadfence();
        atomicExch(cluster.map_shared_rank(&flag, other), 1u);
        while (atomicAdd(&flag, 0u) == 0) {
        }
        __threadfence();
        y[cluster.block_rank()] = value;
    }
    cluster.sync();
}

__global__ void where_it_is(int *y) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    const dim3 sides = cluster.dim_blocks(), index = cluster.block_index(), thread = cluster.thread_index();
    int *at = y + 8 * (blockIdx.y * gridDim.x + blockIdx.x);
    at[0] = sides.x;
    at[1] = sides.y;
    at[2] = index.x;
    at[3] = index.y;
    at[4] = cluster.block_rank();
    at[5] = cluster.thread_rank();
    at[6] = thread.x + 100 * thread.y;
    at[7] = cluster.query_shared_rank(cluster.map_shared_rank(&mine, 1));
}
