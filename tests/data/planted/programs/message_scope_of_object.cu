// An object of device scope hands data to another block. With the bug, its scope is the block.
// class: atomics and scopes; finds: race; grid: 2
// y: f32[T]; data: f32[T]
#include <cuda/atomic>

#ifdef BUG
__device__ cuda::atomic<int, cuda::thread_scope_block> ready{0};
#else
__device__ cuda::atomic<int, cuda::thread_scope_device> ready{0};
#endif

__global__ void k(float *y, float *data) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 3.0f * t;
        ready.fetch_add(1, cuda::std::memory_order_release);
    } else {
        while (ready.load(cuda::std::memory_order_acquire) < blockDim.x) {
        }
        y[t] = data[blockDim.x - 1 - t];
    }
}
