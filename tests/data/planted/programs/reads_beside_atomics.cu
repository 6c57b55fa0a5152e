// A maximum by atomics, looked at in the end. With the bug, while others still raise it.
// class: atomics and scopes; finds: race; grid: 1
// y: i32[T]; x: in i32[T]
__global__ void k(int *y, const int *x) {
    __shared__ int best;
    const int t = threadIdx.x;
    if (t == 0) {
        best = 0;
    }
    __syncthreads();
    atomicMax(&best, x[t]);
#ifndef BUG
    __syncthreads();
#endif
    y[t] = best;
}
