// Bins in shared memory. With the bug, they are added to without an atomic.
// class: atomics and scopes; finds: race; grid: 2
// y: i32[16] = 0; x: in i32[2 * T]
__global__ void k(int *y, const int *x) {
    __shared__ int bins[16];
    const int t = threadIdx.x;
    if (t < 16) {
        bins[t] = 0;
    }
    __syncthreads();
    const int bin = x[blockIdx.x * blockDim.x + t] % 16;
#ifdef BUG
    bins[bin] += 1;
#else
    atomicAdd(&bins[bin], 1);
#endif
    __syncthreads();
    if (t < 16) {
        atomicAdd(&y[t], bins[t]);
    }
}
