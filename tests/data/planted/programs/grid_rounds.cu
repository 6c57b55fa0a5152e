// Blocks pass values on around a ring, through two halves of one array, with a grid barrier a round. With the bug, every
// second round has none.
// class: grids; finds: race; grid: 3
// y: inout f32[6 * T]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float *y) {
    auto grid = cg::this_grid();
    const unsigned n = grid.size(), me = grid.thread_rank();
    float *from = y, *to = y + n;
    for (int round = 0; round < 4; ++round) {
        to[(me + blockDim.x) % n] = from[me] + 1.0f;
#ifdef BUG
        if (round & 1)
#endif
        cg::sync(grid);
        float *other = from;
        from = to;
        to = other;
    }
}
