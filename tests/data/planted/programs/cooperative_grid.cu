// grid.sync() between writing and reading. With the bug, the block's barrier stands there.
// class: grids; finds: race; grid: 5
// y: f32[5 * T]; part: f32[5 * T]
#include <cooperative_groups.h>

__global__ void k(float *y, float *part) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int i = grid.thread_rank(), all = grid.size();
    part[i] = i;
#ifdef BUG
    cooperative_groups::this_thread_block().sync();
#else
    grid.sync();
#endif
    y[i] = part[all - 1 - i];
}
