// All blocks come to grid.sync(). With the bug, one leaves before it.
// class: grids; finds: hang; grid: 3
// y: f32[3 * T]; part: f32[3 * T]
#include <cooperative_groups.h>

__global__ void k(float *y, float *part) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int i = grid.thread_rank(), all = grid.size();
    part[i] = i;
#ifdef BUG
    if (blockIdx.x == 1) {
        return;
    }
#endif
    grid.sync();
    y[i] = part[all - 1 - i];
}
