// A fence of the system orders blocks as well. With the bug, a fence object of block scope stands there.
// class: fences and flags; finds: race; grid: 2
// y: f32[T]; data: f32[T]; flag: u32[1] = 0
#include <cuda/atomic>

__global__ void k(float *y, float *data, unsigned *flag) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t + 1.0f;
#ifdef BUG
        cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_block);
#else
        __threadfence_system();
#endif
        atomicAdd(flag, 1);
    } else {
        while (atomicAdd(flag, 0) < blockDim.x) {
            __nanosleep(100);
        }
        __threadfence_system();
        y[t] = data[blockDim.x - 1 - t];
    }
}
