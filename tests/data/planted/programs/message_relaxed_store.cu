// A store that releases, a load that acquires. With the bug, the store is relaxed.
// class: fences and flags; finds: race; grid: 2
// y: f32[1]; data: f32[4]; flag: i32[1] = 0
#include <cuda/atomic>

__global__ void k(float *y, float *data, int *flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            data[i] = i;
        }
#ifdef BUG
        ready.store(1, cuda::std::memory_order_relaxed);
#else
        ready.store(1, cuda::std::memory_order_release);
#endif
    } else {
        while (ready.load(cuda::std::memory_order_acquire) == 0) {
        }
        y[0] = data[0] + data[1] + data[2] + data[3];
    }
}
