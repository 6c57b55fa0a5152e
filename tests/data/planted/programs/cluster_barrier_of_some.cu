// All threads come to the cluster's barrier. With the bug, one waits at its block's instead, and neither goes on.
// class: clusters; finds: divergent-barrier; grid: 4; cluster: 2
// y: f32[4 * T]
#include <cooperative_groups.h>

__global__ void k(float *y) {
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    if (threadIdx.x == 7) {
        __syncthreads();
    }
#endif
    cluster.sync();
    y[i] = cluster.thread_rank();
}
