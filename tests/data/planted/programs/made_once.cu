// Who comes first makes a table under a lock, all others only look. With the bug, that it is made is read plainly.
// class: locks; finds: race; grid: 4
// y: i32[4]; table: i32[1] = 0; lock: i32[1] = 0; is_made: i32[1] = 0
#include <cuda/atomic>

__global__ void k(int *y, int *table, int *lock, int *is_made) {
    if (threadIdx.x != 0) {
        return;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> made(*is_made);
#ifdef BUG
    if (*is_made == 0) {
#else
    if (made.load(cuda::memory_order_acquire) == 0) {
#endif
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        if (made.load(cuda::memory_order_acquire) == 0) {
            *table = 7;
            made.store(1, cuda::memory_order_release);
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    y[blockIdx.x] = *table;
}
