// Lanes of a tile of 16 hand numbers round. With the bug, tiles of 8 wait.
// class: warps; finds: race; grid: 1
// y: i32[T]; x: in i32[T]
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#ifdef BUG
constexpr int width = 8;
#else
constexpr int width = 16;
#endif

__global__ void k(int *y, const int *x) {
    __shared__ int handed[1024];
    const int t = threadIdx.x;
    auto tile = cg::tiled_partition<width>(cg::this_thread_block());
    handed[t] = x[t];
    tile.sync();
    y[t] = handed[t / 16 * 16 + (t + 9) % 16];
}
