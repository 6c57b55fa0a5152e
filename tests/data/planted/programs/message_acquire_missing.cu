// A message by cuda::atomic_ref. With the bug, it is heard in relaxed order.
// class: fences and flags; finds: race; grid: 2
// y: i32[1]; data: i32[1]; flag: i32[1] = 0
#include <cuda/atomic>

__global__ void k(int *y, int *data, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> told(*flag);
    if (blockIdx.x == gridDim.x - 1) {
        data[0] = 42;
        told.store(1, cuda::memory_order_release);
    } else {
#ifdef BUG
        while (told.load(cuda::memory_order_relaxed) == 0) {
        }
#else
        while (told.load(cuda::memory_order_acquire) == 0) {
        }
#endif
        y[0] = data[0];
    }
}
