// Bins in global memory. With the bug, blocks add to them without an atomic.
// class: atomics and scopes; finds: race; grid: 4
// y: i32[8] = 0; x: in i32[4 * T]
__global__ void k(int *y, const int *x) {
    const int bin = x[blockIdx.x * blockDim.x + threadIdx.x] % 8;
#ifdef BUG
    y[bin] = y[bin] + 1;
#else
    atomicAdd(&y[bin], 1);
#endif
}
