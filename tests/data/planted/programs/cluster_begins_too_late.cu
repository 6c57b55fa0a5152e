// Each block writes its number into the first one's shared memory. With the bug, before that one is known to have begun.
// class: clusters; finds: race; grid: 8; cluster: 4; shared: 16
// y: i32[8]
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void k(int *y) {
    extern __shared__ int numbers[];
    cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank();
#ifndef BUG
    cluster.sync();
#endif
    if (threadIdx.x == 0) {
        cluster.map_shared_rank(numbers, 0)[rank] = blockIdx.x;
    }
    cluster.sync();
    if (rank == 0 && threadIdx.x < 4) {
        y[blockIdx.x + threadIdx.x] = numbers[threadIdx.x];
    }
}
