// Each block adds what the one before has left, when a counter says so: one thread's fetch_add releases, another's load
// acquires, and barriers hand it on. With the bug, the load is relaxed.
// class: fences and flags; finds: race; grid: 4
// y: inout f32[4 * T]; turn: u32[1] = 0
#include <cuda/atomic>
__global__ void k(float *y, unsigned *turn) {
    const int t = threadIdx.x, b = blockIdx.x;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*turn);
    if (t == blockDim.x - 1) {
#ifdef BUG
        while (counter.load(cuda::memory_order_relaxed) != b) {}
#else
        while (counter.load(cuda::memory_order_acquire) != b) {}
#endif
    }
    __syncthreads();
    if (b > 0) {
        y[b * blockDim.x + t] += y[(b - 1) * blockDim.x + (t + 7) % blockDim.x];
    }
    __syncthreads();
    if (t == 0) {
        counter.fetch_add(1u, cuda::memory_order_release);
    }
}
