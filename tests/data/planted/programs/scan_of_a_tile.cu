// Sums up to each thread of a tile, read by its neighbour. With the bug, the tile does not meet before that.
// class: warps; finds: race; grid: 2; shared: 4 * T
// y: i32[2 * T]; x: in i32[2 * T]
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void k(int *y, const int *x) {
    extern __shared__ int sums[];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[t] = cg::exclusive_scan(tile, x[i]) + cg::inclusive_scan(tile, x[i], cg::greater<int>());
#ifndef BUG
    tile.sync();
#endif
    y[i] = sums[t ^ 1];
}
