// Threads arrive at their block's barrier, and wait for it later. With the bug, they read before they wait.
// class: barriers; finds: race; grid: 2; shared: 4 * T
// y: i32[2 * T]; x: in i32[2 * T]
#include <cooperative_groups.h>
#include <utility>

namespace cg = cooperative_groups;

__global__ void k(int *y, const int *x) {
    extern __shared__ int part[];
    auto block = cg::this_thread_block();
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, last = blockDim.x - 1;
    part[t] = x[i];
    auto arrived = block.barrier_arrive();
    int own = 3 * x[i];
#ifdef BUG
    own += part[last - t];
    block.barrier_wait(std::move(arrived));
#else
    block.barrier_wait(std::move(arrived));
    own += part[last - t];
#endif
    y[i] = own;
}
