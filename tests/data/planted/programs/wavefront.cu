// A block goes on from what the one before it has left. With the bug, it is told before all threads have written.
// class: fences and flags; finds: race; grid: 4
// y: i32[4 * T]; x: in i32[4 * T]; flags: i32[4] = 0
__global__ void k(int *y, const int *x, int *flags) {
    const int t = threadIdx.x, b = blockIdx.x, n = blockDim.x;
    if (b > 0) {
        if (t == 0) {
            while (atomicAdd(&flags[b - 1], 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    y[b * n + t] = x[b * n + t] + (b > 0 ? y[(b - 1) * n + (t + 1) % n] : 0);
    __threadfence();
#ifndef BUG
    __syncthreads();
#endif
    if (t == 0) {
        __threadfence();
        atomicExch(&flags[b], 1);
    }
}
