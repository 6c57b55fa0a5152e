// A message by relaxed atomics and cuda::atomic_thread_fence. With the bug, the fence stands behind the store.
// class: fences and flags; finds: race; grid: 2
// y: i32[1]; data: i32[1]; flag: i32[1] = 0
#include <cuda/atomic>

__global__ void k(int *y, int *data, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> told(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42;
#ifndef BUG
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
#endif
        told.store(1, cuda::memory_order_relaxed);
#ifdef BUG
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
#endif
    } else {
        while (told.load(cuda::memory_order_relaxed) == 0) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        y[0] = data[0];
    }
}
