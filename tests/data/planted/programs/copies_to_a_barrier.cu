// A block copies a tile and waits for it at a barrier. With the bug, it arrives and reads.
// class: asynchronous copies; finds: race; grid: 2
// y: f32[2 * T]; x: in f32[2 * T]
#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__global__ void k(float *y, const float *x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> copied;
    __shared__ alignas(16) float tile[1024];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) {
        init(&copied, block.size());
    }
    block.sync();
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    cuda::memcpy_async(block, tile, x + first, cuda::aligned_size_t<16>(sizeof(float) * block.size()), copied);
#ifdef BUG
    copied.arrive();
#else
    copied.arrive_and_wait();
#endif
    y[first + t] = 2.0f * tile[blockDim.x - 1 - t];
}
