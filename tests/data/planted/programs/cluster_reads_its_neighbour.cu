// Each block reads what its neighbour in the cluster has put into its shared memory. With the bug, without waiting for it.
// class: clusters; finds: race; grid: 8; cluster: 4
// y: f32[8 * T]
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void k(float *y) {
    __shared__ float mine[1024];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    mine[t] = i;
#ifdef BUG
    __syncthreads();
#else
    cluster.sync();
#endif
    const float *theirs = cluster.map_shared_rank(mine, (cluster.block_rank() + 1) % cluster.num_blocks());
    y[i] = theirs[t];
    cluster.sync();
}
