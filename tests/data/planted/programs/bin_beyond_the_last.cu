// Values are counted in the bins that there are. With the bug, the data says which.
// class: bounds; finds: out-of-bounds; grid: 2
// y: u32[16] = 0; x: in u32[2 * T]
__global__ void k(unsigned *y, const unsigned *x) {
    __shared__ unsigned bins[16];
    const int t = threadIdx.x;
    if (t < 16) {
        bins[t] = 0;
    }
    __syncthreads();
#ifdef BUG
    unsigned bin = x[blockIdx.x * blockDim.x + t];
    atomicAdd(&bins[bin % 24], 1);
#else
    atomicAdd(&bins[x[blockIdx.x * blockDim.x + t] % 16], 1);
#endif
    __syncthreads();
    if (t < 16) {
        atomicAdd(&y[t], bins[t]);
    }
}
