// Rounds over a whole grid, from one array into the other. With the bug, within one array.
// class: grids; finds: race; grid: 3
// y: inout f32[3 * T]; other: f32[3 * T]
#include <cooperative_groups.h>

__global__ void k(float *y, float *other) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float *from = y, *into = other;
    for (int round = 0; round < 4; round++) {
#ifdef BUG
        from[i] = 0.5f * (from[i] + from[(i + 1) % n]);
        grid.sync();
#else
        into[i] = 0.5f * (from[i] + from[(i + 1) % n]);
        grid.sync();
        float *swapped = from;
        from = into;
        into = swapped;
#endif
    }
}
