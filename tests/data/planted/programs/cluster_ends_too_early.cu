// The first block of a cluster adds up what the others hold in shared memory. With the bug, they do not stay for it.
// class: clusters; finds: race; grid: 6; cluster: 3
// y: f32[2]
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void k(float *y) {
    extern __shared__ float dynamic[];
    __shared__ float mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        mine = blockIdx.x;
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float sum = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
            sum += *cluster.map_shared_rank(&mine, rank);
        }
        y[blockIdx.x / cluster.num_blocks()] = sum;
    }
#ifndef BUG
    cluster.sync();
#endif
}
