// Labels go along edges, where they are less. With the bug, the guard before the atomic is a plain read.
// class: guards; finds: race; grid: 2
// y: inout i32[2 * T]; start: csr start; to: csr to
#include <cuda/atomic>

__global__ void k(int *y, const int *start, const int *to) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = start[v]; e < start[v + 1]; e++) {
        cuda::atomic_ref<int, cuda::thread_scope_device> mine(y[v]), other(y[to[e]]);
        const int label = mine.load(cuda::memory_order_relaxed) - 1;
#ifdef BUG
        if (label < y[to[e]]) {
#else
        if (label < other.load(cuda::memory_order_relaxed)) {
#endif
            other.fetch_min(label, cuda::memory_order_relaxed);
        }
    }
}
