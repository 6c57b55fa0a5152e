// An index from the data. With the bug, it is used as it is.
// class: bounds; finds: out-of-bounds; grid: 2
// y: inout i32[64]; x: in i32[2 * T]
__global__ void k(int *y, const int *x) {
    const int i = x[blockIdx.x * blockDim.x + threadIdx.x];
#ifdef BUG
    atomicAdd(&y[i], 1);
#else
    atomicAdd(&y[i % 64], 1);
#endif
}
