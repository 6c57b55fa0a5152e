// The largest of all. With the bug, a plain read looks first whether the atomic is worth it.
// class: guards; finds: race; grid: 4
// y: i32[1] = 0; x: in i32[4 * T]
__global__ void k(int *y, const int *x) {
    const int value = x[blockIdx.x * blockDim.x + threadIdx.x];
#ifdef BUG
    if (y[0] < value) {
        atomicMax(&y[0], value);
    }
#else
    atomicMax(&y[0], value);
#endif
}
