// A block's results are announced by nvcc's own atomics. With the bug, the announcement releases nothing.
// class: fences and flags; finds: race; grid: 2
// y: i32[T]; x: in i32[T]; made: i32[T]; ready: i32[1] = 0
__global__ void k(int *y, const int *x, int *made, int *ready) {
    const int t = threadIdx.x, last = blockDim.x - 1;
    if (blockIdx.x == 0) {
        made[t] = x[t] + 1;
        __syncthreads();
#ifdef BUG
        if (t == 0) __nv_atomic_store_n(ready, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#else
        if (t == 0) __nv_atomic_store_n(ready, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
#endif
    } else {
        while (__nv_atomic_load_n(ready, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
        }
        y[t] = made[last - t];
    }
}
