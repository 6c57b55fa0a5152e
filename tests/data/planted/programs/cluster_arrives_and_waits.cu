// A block arrives at its cluster's barrier, does work of its own, and waits. With the bug, it reads before it waits.
// class: clusters; finds: race; grid: 4; cluster: 2
// y: f32[4 * T]
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void k(float *y) {
    __shared__ float mine[1024];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    const float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    mine[t] = i;
    auto token = cluster.barrier_arrive();
    float sum = mine[t];
#ifdef BUG
    sum += theirs[blockDim.x - 1 - t];
    cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
#else
    cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
    sum += theirs[blockDim.x - 1 - t];
#endif
    y[i] = sum;
    cluster.sync();
}
