// Sums of all blocks of a cluster, round by round, in one cell. With the bug, the cell is used again before all have read.
// class: clusters; finds: race; grid: 8; cluster: 4
// y: i32[8]
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void k(int *y) {
    __shared__ int cell;
    cg::cluster_group cluster = cg::this_cluster();
    int sum = blockIdx.x;
    for (int round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) {
            cell = sum;
        }
        cluster.sync();
        sum = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
            sum += *cluster.map_shared_rank(&cell, rank);
        }
#ifndef BUG
        cluster.sync();
#endif
    }
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
#ifdef BUG
    cluster.sync();
#endif
}
