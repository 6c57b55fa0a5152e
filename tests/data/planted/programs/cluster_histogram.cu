// A histogram whose bins lie in the shared memory of all blocks of a cluster. With the bug, they are added to plainly.
// class: clusters; finds: race; grid: 2; cluster: 2
// y: i32[16]; x: in i32[8 * T]; n: 8 * T
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void k(int *y, const int *x, int n) {
    __shared__ int bins[8];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 8) {
        bins[threadIdx.x] = 0;
    }
    cluster.sync();
    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
        const int bin = x[i] % 16;
        int *counted = cluster.map_shared_rank(bins, bin / 8) + bin % 8;
#ifdef BUG
        *counted += 1;
#else
        atomicAdd(counted, 1);
#endif
    }
    cluster.sync();
    if (threadIdx.x < 8) {
        y[8 * cluster.block_rank() + threadIdx.x] = bins[threadIdx.x];
    }
}
