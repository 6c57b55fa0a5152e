// A block copies together and waits together. With the bug, it comes together without waiting for its copies.
// class: asynchronous copies; finds: uninitialised; grid: 2
// y: f32[2 * T]; x: in f32[2 * T]
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void k(float *y, const float *x) {
    __shared__ float tile[1024];
    cg::thread_block all = cg::this_thread_block();
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    cg::memcpy_async(all, tile, x + first, blockDim.x * sizeof(float));
#ifdef BUG
    all.sync();
#else
    cg::wait(all);
#endif
    y[first + t] = 1.0f + tile[blockDim.x - 1 - t];
}
