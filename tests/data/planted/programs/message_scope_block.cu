// A message by cuda::atomic_ref. With the bug, of block scope, to another block.
// class: atomics and scopes; finds: race; grid: 2
// y: i32[1]; data: i32[1]; flag: i32[1] = 0
#include <cuda/atomic>

#ifdef BUG
constexpr cuda::thread_scope scope = cuda::thread_scope_block;
#else
constexpr cuda::thread_scope scope = cuda::thread_scope_device;
#endif

__global__ void k(int *y, int *data, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    cuda::atomic_ref<int, scope> told(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42;
        told.store(1, cuda::memory_order_release);
    } else {
        while (told.load(cuda::memory_order_acquire) == 0) {
        }
        y[0] = data[0];
    }
}
