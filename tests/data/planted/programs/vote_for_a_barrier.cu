// A block votes whether to go on, which is a barrier, too. With the bug, every warp votes for itself.
// class: barriers; finds: race; grid: 1
// y: i32[T]; x: in i32[T]
__global__ void k(int *y, const int *x) {
    __shared__ int seen[1024];
    const int t = threadIdx.x, n = blockDim.x;
    seen[t] = x[t];
#ifdef BUG
    const int goes_on = __any_sync(~0u, x[t] >= 0);
#else
    const int goes_on = __syncthreads_or(x[t] >= 0);
#endif
    y[t] = goes_on ? seen[n - 1 - t] : 0;
}
