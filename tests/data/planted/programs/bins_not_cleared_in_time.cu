// Bins are cleared by the first threads. With the bug, others add before that.
// class: tiles; finds: race; grid: 1
// y: i32[16]; x: in i32[T]
__global__ void k(int *y, const int *x) {
    __shared__ int bins[16];
    const int t = threadIdx.x;
    if (t >= (int)blockDim.x - 16) {
        bins[t - (blockDim.x - 16)] = 0;
    }
#ifndef BUG
    __syncthreads();
#endif
    atomicAdd(&bins[x[t] % 16], 1);
    __syncthreads();
    if (t < 16) {
        y[t] = bins[t];
    }
}
