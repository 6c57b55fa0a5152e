// Threads append to a list. With the bug, the place is taken without an atomic.
// class: worklists; finds: race; grid: 3
// y: inout i32[1024 * 3]; size: i32[1] = 0; x: in i32[3 * T]
__global__ void k(int *y, int *size, const int *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] % 3 == 0) {
#ifdef BUG
        const int place = size[0];
        size[0] = place + 1;
#else
        const int place = atomicAdd(size, 1);
#endif
        y[place] = x[i];
    }
}
